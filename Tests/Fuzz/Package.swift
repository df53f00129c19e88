// swift-tools-version:6.2
import PackageDescription

/// Coverage-guided fuzzing with libFuzzer, built and run by script/fuzz. A package of its own, since
/// its modules are compiled with other flags: coverage for the fuzzer, and the address sanitizer.
let instrumented: [SwiftSetting] = [
  .treatAllWarnings(as: .error), .unsafeFlags(["-sanitize=fuzzer,address"]),
]

/// A floor of the project's modules; `Sources` links to the project's.
struct Floor {
  let name: String

  func path(_ module: String) -> String { "Sources/\(name)/\(module)" }

  func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: path(name), swiftSettings: instrumented)
  }
}

let base = Floor(name: "base")
let http = Floor(name: "http")
let domain = Floor(name: "domain")
let media = Floor(name: "media")
let formats = Floor(name: "formats")

let package = Package(
  name: "fuzz",
  targets: [
    base.module("CivilTime"),
    http.module("HTTP", ["CivilTime"]),
    domain.module("Feed", ["CivilTime"]),
    base.module("JSON"),
    domain.module("Prefetch", ["Feed"]),
    domain.module("Reports", ["Feed"]),
    domain.module("PostJSON", ["Feed", "Prefetch", "Reports", "JSON"]),
    media.module("MediaFormats"),
    .target(name: "CXXHash", path: base.path("CXXHash")),
    .systemLibrary(name: "CExpat", path: formats.path("CExpat"), pkgConfig: "expat"),
    formats.module("FeedFormats", ["CivilTime", "Feed", "JSON", "PostJSON", "CExpat", "CXXHash"]),

    // What must hold for any bytes; the tests of the modules replay the corpus through it.
    .target(
      name: "Properties",
      dependencies: [
        "HTTP", "Feed", "JSON", "PostJSON", "Prefetch", "Reports", "FeedFormats", "MediaFormats",
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
