// swift-tools-version:6.2
import PackageDescription

/// What an event costs the engine, run by script/bench: a package of its own, of the modules that the engine
/// needs and no others, whose `Sources` links to the project's.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

let package = Package(
  name: "engine",
  targets: [
    .target(name: "CivilTime", path: "Sources/base/CivilTime", swiftSettings: strict),
    .target(
      name: "Feed", dependencies: ["CivilTime"], path: "Sources/domain/Feed", swiftSettings: strict),
    .target(
      name: "Prefetch", dependencies: ["Feed"], path: "Sources/domain/Prefetch",
      swiftSettings: strict),
    .executableTarget(
      name: "engine", dependencies: ["Feed", "Prefetch"], path: "Run", swiftSettings: strict),
  ]
)
