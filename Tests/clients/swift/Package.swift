// swift-tools-version:6.0
import PackageDescription

// On the client that openapi-generator makes, which script/check-clients puts beside it.
let package = Package(
  name: "Fetch",
  platforms: [.macOS(.v13)],
  dependencies: [.package(name: "OpenAPIClient", path: "client")],
  targets: [.executableTarget(name: "Fetch", dependencies: ["OpenAPIClient"])])
