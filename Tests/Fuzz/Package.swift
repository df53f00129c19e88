// swift-tools-version:6.2
import PackageDescription

/// Coverage-guided fuzzing with libFuzzer, built and run by script/fuzz. A package of its own, since
/// its modules are compiled with other flags: coverage for the fuzzer, and the address sanitizer.
let instrumented: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .unsafeFlags(["-sanitize=fuzzer,address"]),
]

/// One of the project's modules; `Sources` links to the project's.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: instrumented)
}

let package = Package(
  name: "fuzz",
  targets: [
    module("CivilTime"),
    module("HTTP", ["CivilTime"]),
    module("Feed", ["CivilTime"]),
    module("JSON"),
    module("Prefetch", ["Feed"]),
    module("PostJSON", ["Feed", "Prefetch", "JSON"]),
    module("MediaFormats"),
    .target(name: "CXXHash"),
    .systemLibrary(name: "CExpat", pkgConfig: "expat"),
    module("FeedFormats", ["CivilTime", "Feed", "JSON", "PostJSON", "CExpat", "CXXHash"]),

    // What must hold for any bytes; the tests of the modules replay the corpus through it.
    .target(
      name: "Properties",
      dependencies: [
        "HTTP", "Feed", "JSON", "PostJSON", "Prefetch", "FeedFormats", "MediaFormats",
      ],
      path: "Properties", swiftSettings: instrumented),
    .systemLibrary(name: "CLibFuzzer", path: "CLibFuzzer"),
    .executableTarget(
      name: "Fuzz", dependencies: ["Properties", "CLibFuzzer"], path: "Run",
      swiftSettings: instrumented,
      // Debian's gold ends with an internal error over these objects; lld comes with Swift.
      linkerSettings: [.unsafeFlags(["-use-ld=lld", "-sanitize=fuzzer,address"])]),
  ]
)
