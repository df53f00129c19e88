// swift-tools-version:6.2
import PackageDescription

// A package as an app's: it depends on the product PrefetchClient and on nothing else.
let package = Package(
  name: "client",
  platforms: [.macOS(.v15), .iOS(.v18)],
  dependencies: [.package(name: "lookahead", path: "../..")],
  targets: [
    .executableTarget(
      name: "Sample",
      dependencies: [.product(name: "PrefetchClient", package: "lookahead")],
      swiftSettings: [.treatAllWarnings(as: .error)])
  ])
