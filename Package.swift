// swift-tools-version:6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode (the default of these tools), warnings are errors.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// A module of ours.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// The tests of a module of ours.
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")

let package = Package(
  name: "lookahead",
  products: [
    .library(name: "Feed", targets: ["Feed"]),
    .library(name: "Prefetch", targets: ["Prefetch"]),
  ],
  dependencies: [
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    // C headers that Swift's Glibc overlay does not show, and a header-only hash.
    .target(name: "CXXHash"),

    // The domain: no I/O, no clock.
    module("Feed"),
    module("Prefetch", ["Feed"]),

    // The adapters around the domain.
    .target(
      name: "Migrations", path: "Migrations",
      resources: [.embedInCode("0001-feeds.sql"), .embedInCode("0002-first-policies.sql")],
      swiftSettings: strict),
    module("JSON"),
    module("Seeding", ["Feed", "JSON"]),
    module("SQLiteStore", ["Feed", "Prefetch", "JSON", "Migrations", "CXXHash", sqlite]),

    // Tests, and what they share.
    .target(
      name: "TestSupport", dependencies: ["Feed"], path: "Tests/TestSupport",
      swiftSettings: strict),
    tests("SQLiteStoreTests", ["SQLiteStore", "Seeding", "Migrations", "TestSupport", sqlite]),
  ]
)
