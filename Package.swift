// swift-tools-version:6.2
import PackageDescription

/// Every target of ours: Swift 6 language mode (the default of these tools), warnings are errors.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// A module of the program: its tests see its internals in release builds, too, so that one build serves the program
/// and its tests. No flag may be added to what other packages build (the library products, and what they stand on).
let testable: [SwiftSetting] =
  strict + [.unsafeFlags(["-enable-testing"], .when(configuration: .release))]

/// The same for what every request goes through many times: in release builds whether two accesses to a
/// class's property overlap is looked at by the compiler alone. Debug builds, sanitizers among them, look while they
/// run, too; it took a tenth of a request's instructions.
let served: [SwiftSetting] =
  testable + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// A module of ours.
func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = testable
) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// Tests: never optimised, as that takes longer than it saves.
let unoptimized: [SwiftSetting] =
  strict + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// The tests of a module of ours.
func tests(
  _ name: String, _ dependencies: [Target.Dependency], excluding files: [String] = []
) -> Target {
  .testTarget(name: name, dependencies: dependencies, exclude: files, swiftSettings: unoptimized)
}

let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let sqlite = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let sqliteC = Target.Dependency.product(name: "GRDBSQLite", package: "GRDB.swift")
let hashTrees = Target.Dependency.product(
  name: "HashTreeCollections", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
  name: "lookahead",
  // What the client library needs of Apple's systems; the server is for Linux.
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
  products: [
    .executable(name: "lookahead", targets: ["lookahead"]),
    .library(name: "Feed", targets: ["Feed"]),
    .library(name: "Prefetch", targets: ["Prefetch"]),
    .library(name: "PrefetchClient", targets: ["PrefetchClient", "PrefetchURLSession"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ],
  targets: [
    // What Swift's Glibc overlay does not show, and a header-only hash.
    .target(name: "CLinux"),
    .target(name: "CXXHash"),
    // The files that the program carries: the page, the API's description, migrations.
    .target(name: "CEmbedded"),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(
      name: "CBrotli", pkgConfig: "libbrotlienc", providers: [.apt(["libbrotli-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),

    // Which release and commit this is; the plugin writes the latter.
    .plugin(name: "CommitPlugin", capability: .buildTool()),
    .target(name: "Version", swiftSettings: strict, plugins: ["CommitPlugin"]),

    // The network, from descriptors up to routes.
    module("System", ["CLinux", deque], served),
    module("Sockets", ["System", "CLinux"], served),
    module("HTTP", ["CivilTime"]),
    module("HTTPServer", ["Sockets", "System", "HTTP", deque, logging], served),

    // The domain: no I/O, no clock.
    module("CivilTime", [], strict),
    module("Feed", ["CivilTime"], strict),
    module("Prefetch", ["Feed"], strict),
    module("ThumbHash"),
    // SHA-256 and HMAC, from libcrypto.
    module("SHA2", ["CCrypto"]),

    // What a link is like: profiles and recorded traces.
    module("LinkModel", ["Prefetch", "JSON"]),

    // A slow network, for tests, the lab and the client's `--network`.
    module("ShapedLink", ["LinkModel", "Sockets", "System", deque]),

    // What any store stands on.
    module("Catalog", ["Feed", "Prefetch", "System", deque, hashTrees]),

    // What the server needs beside: content codings, files, logs and figures.
    module("Compression", ["HTTP", "CZlib", "CBrotli", "CZstd"]),
    module("MediaFiles", ["System"]),
    module("MediaFormats"),
    module("Observability", ["System", "CivilTime", "JSON", logging, metrics]),
    module(
      "MediaProbe",
      ["MediaFormats", "Feed", "JSON", "ThumbHash", "Sockets", "System", "SHA2"]),

    // The measuring stand: viewers, links and runs that are simulated.
    module("Lab", ["Feed", "Prefetch", "LinkModel", "PostJSON", "JSON"]),

    // The adapters around the domain, the application, and the composition root.
    .target(
      name: "Migrations", dependencies: ["CEmbedded"], path: "Migrations",
      exclude: ["sqlite", "postgres"], swiftSettings: strict),
    // The page to look at, and the client library for browsers.
    .target(
      name: "Page", dependencies: ["CEmbedded"], exclude: ["lookahead.js", "page"],
      swiftSettings: strict),
    module("JSON", [], strict),
    module("PostJSON", ["Feed", "Prefetch", "JSON"], strict),
    // The client library, for apps; URLSession apart, so that what has its own sockets does not link it.
    module("PrefetchClient", ["Feed", "Prefetch", "PostJSON", "JSON"], strict),
    module("PrefetchURLSession", ["PrefetchClient"], strict),
    // A headless viewer on it.
    module(
      "Viewing", ["PrefetchClient", "Prefetch", "JSON", "Feed", "Sockets", "System"]),
    module(
      "MediaIndex",
      ["Feed", "Catalog", "HTTP", "MediaFiles", "MediaFormats", "MediaProbe", "System"]),
    module("FeedFormats", ["CivilTime", "Feed", "JSON", "PostJSON", "CExpat", "CXXHash"]),
    module("Seeding", ["Feed", "Catalog", "PostJSON", "FeedFormats", "Compression", "System"]),
    // PostgreSQL's client library.
    module("Postgres", ["CPostgres", "System"]),
    // What stores of rows share, and the stores.
    module(
      "RowStore",
      ["Feed", "Prefetch", "Catalog", "JSON", "PostJSON", "System", "Migrations", "CXXHash"]),
    module(
      "SQLiteStore",
      [
        "Feed", "Prefetch", "Catalog", "PostJSON", "System", "CLinux", "RowStore", "Migrations",
        sqlite, sqliteC,
      ]),
    module(
      "PostgresStore",
      [
        "Feed", "Prefetch", "Catalog", "System", "RowStore", "Migrations", "Postgres",
      ]),
    module("Backups", ["SQLiteStore", "System", "CivilTime", "Compression", "CXXHash"]),
    .target(
      name: "FeedServer",
      dependencies: [
        "HTTPServer", "HTTP", "Sockets", "System", "Feed", "Prefetch", "Catalog", "PostJSON",
        "Seeding", "FeedFormats", "JSON", "Compression", "MediaFiles", "MediaFormats", "MediaProbe",
        "MediaIndex", "Observability", "Page", "CEmbedded", "CXXHash", "SHA2", logging, metrics,
      ],
      exclude: ["openapi.json"],
      swiftSettings: testable),
    module(
      "Service",
      [
        "FeedServer", "RowStore", "SQLiteStore", "Postgres", "PostgresStore", "Prefetch", "Backups",
        "System", "Catalog",
        "MediaFiles", "MediaProbe", "MediaIndex", "Observability", logging, metrics,
      ]),
    .executableTarget(
      name: "lookahead",
      dependencies: [
        "Service", "FeedServer", "RowStore", "SQLiteStore", "Postgres", "Seeding", "FeedFormats",
        "PostJSON",
        "Catalog", "Feed",
        "Sockets", "System", "Observability", "Backups", "Version", "MediaProbe", "MediaIndex",
        "MediaFiles", "JSON", "Prefetch", "PrefetchClient", "Viewing", "ShapedLink", "Lab",
        arguments, "SHA2", logging, metrics,
      ],
      swiftSettings: testable),

    // Tests, and what they share.
    .target(name: "CLockShim", path: "Tests/CLockShim"),
    .target(
      name: "TestSupport", dependencies: ["Feed", "Catalog"], path: "Tests/TestSupport",
      swiftSettings: unoptimized),
    .target(
      name: "SQLiteTestSupport", dependencies: ["CLockShim", sqliteC],
      path: "Tests/SQLiteTestSupport", swiftSettings: unoptimized),
    .target(
      name: "PostgresTestSupport", dependencies: ["TestSupport"], path: "Tests/PostgresTestSupport",
      swiftSettings: unoptimized),
    tests("PostgresTests", ["Postgres", "PostgresTestSupport", "TestSupport"]),
    tests("CivilTimeTests", ["CivilTime", "TestSupport"]),
    .target(
      name: "ModelStore", dependencies: ["Feed", "Prefetch", "Catalog"], path: "Tests/ModelStore",
      swiftSettings: unoptimized),
    tests("FeedTests", ["Feed", "TestSupport"]),
    tests("ThumbHashTests", ["ThumbHash", "TestSupport"]),
    tests("CatalogTests", ["Catalog", "Feed", "TestSupport"]),
    tests("PrefetchTests", ["Prefetch", "Feed", "TestSupport"]),
    tests("LabTests", ["Lab", "Feed", "Prefetch", "TestSupport"]),
    tests("JSONTests", ["JSON", "TestSupport"]),
    tests("PostJSONTests", ["PostJSON", "Seeding", "Feed", "Prefetch", "JSON", "TestSupport"]),
    tests(
      "PrefetchClientTests",
      [
        "PrefetchClient", "PrefetchURLSession", "PostJSON", "Prefetch", "Feed", "System",
        "TestSupport",
      ]),
    tests("ViewingTests", ["Viewing", "PrefetchClient", "Sockets", "System", "TestSupport"]),
    tests(
      "FeedFormatsTests", ["FeedFormats", "PostJSON", "Feed", "JSON", "TestSupport"],
      excluding: ["Expected"]),
    tests(
      "SeedingTests",
      [
        "Seeding", "FeedFormats", "ModelStore", "Catalog", "Compression", "CZstd", "Feed",
        "TestSupport",
      ]),
    tests("HTTPTests", ["HTTP", "TestSupport"]),
    tests("SystemTests", ["System", "TestSupport"]),
    tests("SocketsTests", ["Sockets", "System", "CLinux", "TestSupport"]),
    tests(
      "ShapedLinkTests",
      ["ShapedLink", "Prefetch", "Feed", "Sockets", "System", "TestSupport"]),
    tests("CompressionTests", ["Compression", "HTTP", "TestSupport"]),
    tests("MediaFilesTests", ["MediaFiles", "System", "TestSupport"]),
    tests("MediaFormatsTests", ["MediaFormats", "TestSupport"]),
    tests(
      "MediaProbeTests",
      ["MediaProbe", "MediaFormats", "Feed", "ThumbHash", "System", "TestSupport"]),
    tests(
      "MediaIndexTests",
      [
        "MediaIndex", "MediaFiles", "MediaProbe", "SQLiteStore", "Catalog", "Feed", "System",
        "TestSupport",
      ]),
    tests("ObservabilityTests", ["Observability", "System", "TestSupport", logging, metrics]),
    tests("HTTPServerTests", ["HTTPServer", "HTTP", "Sockets", "System", "TestSupport", logging]),
    tests(
      "CommandTests",
      [
        "lookahead", "FeedServer", "Lab", "PostJSON", "Prefetch", "PrefetchClient", "Viewing",
        "SQLiteStore", "Catalog", "Feed", "Version", "Postgres", "SQLiteTestSupport",
        "PostgresTestSupport", "SHA2", "TestSupport",
      ]),
    // On the model store alone: no SQLite is linked.
    tests(
      "FeedServerTests",
      [
        "FeedServer", "ModelStore", "Catalog", "Feed", "Prefetch", "PostJSON", "Seeding", "JSON",
        "Compression", "HTTP", "HTTPServer", "Sockets", "System", "MediaFiles", "MediaFormats",
        "Observability", "Page", "ShapedLink", "TestSupport", "SHA2", logging,
      ]),
    tests(
      "ServiceTests",
      [
        "Service", "FeedServer", "SQLiteStore", "Migrations", "Backups", "Seeding", "Feed",
        "Prefetch", "MediaProbe", "MediaIndex", "System", "Catalog", "Observability",
        "SQLiteTestSupport", "TestSupport", logging, sqlite,
      ]),
    tests(
      "PostgresStoreTests",
      [
        "Catalog", "Feed", "JSON", "Migrations", "PostJSON", "Postgres", "PostgresStore",
        "PostgresTestSupport", "Prefetch", "RowStore", "SQLiteStore", "Seeding", "TestSupport",
      ]),
    // What any store must do, on SQLite, on PostgreSQL and on the model.
    tests(
      "StoreContractTests",
      [
        "Catalog", "Feed", "ModelStore", "RowStore", "SQLiteStore", "Postgres", "PostgresStore",
        "PostJSON", "Seeding", "PostgresTestSupport", "TestSupport",
      ]),
    tests(
      "BackupsTests", ["Backups", "System", "Compression", "SQLiteStore", "TestSupport", sqlite]),
    tests(
      "SQLiteStoreTests",
      [
        "SQLiteStore", "RowStore", "PostJSON", "Seeding", "Migrations", "SQLiteTestSupport",
        "TestSupport", sqlite,
      ]),
  ]
)
