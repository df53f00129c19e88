// swift-tools-version:6.2
import PackageDescription

/// Settings of all our targets: Swift 6 language mode (the default of these tools), warnings are errors.
let strict: [SwiftSetting] = [.treatAllWarnings(as: .error)]

/// Whether this is a build of `script/build --checked`; builds by other packages never are.
let isChecked = Context.environment["LOOKAHEAD_CHECKED_BUILD"] != nil

/// Settings of a module that computes and does no I/O. A checked build optimizes it as well, with its
/// assertions, so that simulations and decoders do not make tests slow. The flags are the frontend's, since
/// those on the command line, which are for all modules, come after a module's own.
let computing: [SwiftSetting] =
  isChecked
  ? [.unsafeFlags(["-O", "-assert-config", "Debug"].flatMap { ["-Xfrontend", $0] })] : []

/// Settings of a module of the program: its tests see its internals in release builds as well, so that one
/// build serves the program and its tests. No flag may be added to what other packages build (the library
/// products, and the modules that they depend on).
let testable: [SwiftSetting] =
  strict + [.unsafeFlags(["-enable-testing"], .when(configuration: .release))]

/// The same for modules that every request goes through many times: in release builds, only the compiler
/// checks whether two accesses to a class's property overlap. Debug and checked builds, including those with
/// sanitizers, also check it at run time, which took a tenth of a request's instructions.
let served: [SwiftSetting] =
  isChecked
  ? testable
  : testable + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]

/// Settings of the command, which parses arguments, calls other modules, and prints. Specializing what it
/// uses of the argument parser took 37 of the 55 seconds of processor time of its build, after each change of
/// a module below.
let unspecialized: [SwiftSetting] =
  testable + [.unsafeFlags(["-Onone"], .when(configuration: .release))]

/// Settings of tests, which are never optimized, since that takes longer than it saves. SwiftPM finds tests
/// in the index, but needs nothing of other modules there.
let unoptimized: [SwiftSetting] =
  strict + [
    .unsafeFlags(
      [
        "-Onone", "-index-ignore-system-modules", "-index-ignore-clang-modules",
      ], .when(configuration: .release))
  ]

/// A floor of the package: a folder of Sources, and one of Tests. A module depends only on modules of its own
/// floor and of those above it in this file, which `MapTests` checks.
struct Floor {
  let name: String

  /// The folder of a module.
  func path(_ module: String) -> String { "Sources/\(name)/\(module)" }

  /// A module in Swift.
  func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting] = testable,
    excluding files: [String] = []
  ) -> Target {
    .target(
      name: name, dependencies: dependencies, path: path(name), exclude: files,
      swiftSettings: settings)
  }

  /// A module in C.
  func c(_ name: String) -> Target { .target(name: name, path: path(name)) }

  /// A library of the system.
  func library(_ name: String, _ pkgConfig: String, package: String) -> Target {
    .systemLibrary(name: name, path: path(name), pkgConfig: pkgConfig, providers: [.apt([package])])
  }

  /// Tests of modules of this floor.
  func tests(
    _ name: String, _ dependencies: [Target.Dependency], excluding files: [String] = []
  ) -> Target {
    .testTarget(
      name: name, dependencies: dependencies, path: "Tests/\(self.name)/\(name)", exclude: files,
      swiftSettings: unoptimized)
  }
}

let base = Floor(name: "base")
let http = Floor(name: "http")
let domain = Floor(name: "domain")
let media = Floor(name: "media")
let formats = Floor(name: "formats")
let stores = Floor(name: "stores")
let client = Floor(name: "client")
let lab = Floor(name: "lab")
let server = Floor(name: "server")
let command = Floor(name: "command")

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
  // The client library needs these versions of Apple's systems; the server is for Linux.
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
    // Base: modules that any program could use.
    // Parts of Linux that Swift's Glibc overlay does not have, and a header-only hash.
    base.c("CLinux"),
    base.c("CXXHash"),
    // The files that the program carries: the page, the description of the API, migrations.
    base.c("CEmbedded"),
    base.library("CCrypto", "libcrypto", package: "libssl-dev"),
    base.module("System", ["CLinux", deque], served),
    base.module("CivilTime", [], strict + computing),
    base.module("JSON", [], strict + computing),
    base.module("Statistics", [], strict + computing),
    // SHA-256 and HMAC, from libcrypto.
    base.module("SHA2", ["CCrypto"]),
    base.library("CCurl", "libcurl", package: "libcurl4-openssl-dev"),
    base.module("ObjectStorage", ["SHA2", "CivilTime", "System", "CCurl"]),
    base.module("Observability", ["System", "CivilTime", "JSON", logging, metrics]),
    // The release and commit of this build; the plugin writes the latter. A module of its own, since each
    // commit builds it again.
    .plugin(name: "CommitPlugin", capability: .buildTool()),
    .target(
      name: "Version", path: base.path("Version"), swiftSettings: strict, plugins: ["CommitPlugin"]),

    // HTTP: the network, from descriptors up to routes, and content codings.
    http.library("CZlib", "zlib", package: "zlib1g-dev"),
    http.library("CBrotli", "libbrotlienc", package: "libbrotli-dev"),
    http.library("CZstd", "libzstd", package: "libzstd-dev"),
    http.module("Sockets", ["System", "CLinux"], served),
    http.module("HTTP", ["CivilTime"]),
    http.module("HTTPServer", ["Sockets", "System", "HTTP", deque, logging], served),
    http.module("Compression", ["HTTP", "CZlib", "CBrotli", "CZstd"]),

    // Domain: feeds and prefetching, and what every store is based on.
    domain.module("Feed", ["CivilTime"], strict + computing),
    domain.module("Prefetch", ["Feed"], strict + computing),
    domain.module("Reports", ["Feed"], strict + computing),
    domain.module("PostJSON", ["Feed", "Prefetch", "Reports", "JSON"], strict + computing),
    domain.module(
      "Experiments", ["Feed", "Prefetch", "Reports", "JSON", "Statistics"], testable + computing),
    domain.module(
      "Catalog", ["Feed", "Prefetch", "Reports", "Experiments", "System", deque, hashTrees]),

    // Media: the contents of media files, and what is known of them.
    media.module("MediaFormats", [], testable + computing),
    media.module("ThumbHash", [], testable + computing),
    media.module("MediaFiles", ["System", "ObjectStorage"]),
    media.module(
      "MediaProbe",
      ["MediaFormats", "Feed", "JSON", "ThumbHash", "Sockets", "System", "SHA2"]),
    media.module(
      "MediaIndex",
      ["Feed", "Catalog", "HTTP", "MediaFiles", "MediaFormats", "MediaProbe", "System"]),

    // Formats: import and export of content in foreign formats.
    formats.library("CExpat", "expat", package: "libexpat1-dev"),
    formats.module("FeedFormats", ["CivilTime", "Feed", "JSON", "PostJSON", "CExpat", "CXXHash"]),
    formats.module(
      "Seeding", ["Feed", "Catalog", "PostJSON", "FeedFormats", "Compression", "System"]),

    // Stores: the common part of stores of rows, SQLite, PostgreSQL, backups.
    stores.library("CPostgres", "libpq", package: "libpq-dev"),
    .target(
      name: "Migrations", dependencies: ["CEmbedded"], path: "Migrations",
      exclude: ["sqlite", "postgres"], swiftSettings: strict),
    stores.module("Postgres", ["CPostgres", "System"]),
    stores.module(
      "RowStore",
      [
        "Feed", "Prefetch", "Reports", "Experiments", "Catalog", "JSON", "PostJSON", "System",
        "Migrations", "CXXHash",
      ]),
    stores.module(
      "SQLiteStore",
      [
        "Feed", "Prefetch", "Reports", "Experiments", "Catalog", "PostJSON", "System", "CLinux",
        "RowStore", "Migrations", sqlite, sqliteC,
      ]),
    stores.module(
      "PostgresStore",
      [
        "Feed", "Prefetch", "Reports", "Experiments", "Catalog", "System", "RowStore",
        "Migrations", "Postgres",
      ]),
    stores.module(
      "Backups",
      ["SQLiteStore", "ObjectStorage", "System", "CivilTime", "Compression", "CXXHash"]),

    // Client: the library for apps. URLSession is separate, so that programs with their own sockets do not
    // link it.
    client.module("PrefetchClient", ["Feed", "Prefetch", "Reports", "PostJSON", "JSON"], strict),
    client.module("PrefetchURLSession", ["PrefetchClient"], strict),
    // A headless viewer that uses the library.
    client.module(
      "Viewing", ["PrefetchClient", "Prefetch", "JSON", "Feed", "Sockets", "System"]),

    // Lab: simulated viewers, links and runs, and a slow network for tests and `--network`.
    lab.module("LinkModel", ["Prefetch", "JSON"], testable + computing),
    lab.module("ShapedLink", ["LinkModel", "Sockets", "System", deque]),
    lab.module(
      "Lab", ["Feed", "Prefetch", "LinkModel", "PostJSON", "JSON", "Statistics"],
      testable + computing),

    // Server: the page, the application, and the composition root.
    server.module("Page", ["CEmbedded"], excluding: ["lookahead.js", "page"]),
    server.module(
      "FeedServer",
      [
        "HTTPServer", "HTTP", "Sockets", "System", "Feed", "Prefetch", "Reports",
        "Experiments", "Catalog", "PostJSON", "Seeding", "FeedFormats", "JSON", "Compression",
        "MediaFiles", "MediaFormats",
        "MediaProbe",
        "MediaIndex", "Observability", "Page", "CEmbedded", "CXXHash", "SHA2", logging, metrics,
      ],
      excluding: ["openapi.json"]),
    server.module(
      "Service",
      [
        "FeedServer", "RowStore", "SQLiteStore", "Postgres", "PostgresStore", "Prefetch", "Backups",
        "ObjectStorage",
        "System", "Catalog", "Feed", "Reports", "Experiments",
        "MediaFiles", "MediaProbe", "MediaIndex", "Observability", logging, metrics,
      ]),

    // Command: the program.
    .executableTarget(
      name: "lookahead",
      dependencies: [
        "Service", "FeedServer", "RowStore", "SQLiteStore", "Postgres", "Seeding", "FeedFormats",
        "PostJSON", "Reports", "Experiments", "Catalog", "Feed",
        "Sockets", "System", "Observability", "Backups", "ObjectStorage", "Version", "MediaProbe",
        "MediaIndex",
        "MediaFiles", "HTTPServer", "JSON", "Prefetch", "PrefetchClient", "Viewing", "ShapedLink",
        "Lab", arguments, "SHA2", logging, metrics,
      ],
      path: command.path("lookahead"), swiftSettings: unspecialized),

    // Tests, and their shared modules.
    .target(name: "CLockShim", path: "Tests/support/CLockShim"),
    .target(
      name: "TestSupport", dependencies: ["Feed", "Catalog", "Reports"],
      path: "Tests/support/TestSupport",
      swiftSettings: unoptimized),
    .target(
      name: "SQLiteTestSupport", dependencies: ["CLockShim", sqliteC],
      path: "Tests/support/SQLiteTestSupport", swiftSettings: unoptimized),
    .target(
      name: "PostgresTestSupport", dependencies: ["TestSupport"],
      path: "Tests/support/PostgresTestSupport",
      swiftSettings: unoptimized),
    .target(
      name: "ModelStore", dependencies: ["Feed", "Prefetch", "Reports", "Experiments", "Catalog"],
      path: "Tests/support/ModelStore",
      swiftSettings: unoptimized),
    base.tests("CivilTimeTests", ["CivilTime", "TestSupport"]),
    base.tests("ObjectStorageTests", ["ObjectStorage", "SHA2", "System", "TestSupport"]),
    base.tests("JSONTests", ["JSON", "TestSupport"]),
    base.tests("SystemTests", ["System", "TestSupport"]),
    base.tests("ObservabilityTests", ["Observability", "System", "TestSupport", logging, metrics]),
    http.tests("HTTPTests", ["HTTP", "TestSupport"]),
    http.tests("SocketsTests", ["Sockets", "System", "CLinux", "TestSupport"]),
    http.tests("CompressionTests", ["Compression", "CZlib", "HTTP", "TestSupport"]),
    http.tests(
      "HTTPServerTests", ["HTTPServer", "HTTP", "Sockets", "System", "TestSupport", logging]),
    domain.tests("FeedTests", ["Feed", "TestSupport"]),
    domain.tests("CatalogTests", ["Catalog", "Feed", "TestSupport"]),
    domain.tests("PrefetchTests", ["Prefetch", "Feed", "TestSupport"]),
    domain.tests("ReportsTests", ["Reports", "PostJSON", "Feed", "JSON", "TestSupport"]),
    domain.tests(
      "ExperimentsTests",
      ["Experiments", "Feed", "Prefetch", "Reports", "Statistics", "TestSupport"]),
    domain.tests(
      "PostJSONTests", ["PostJSON", "Seeding", "Feed", "Prefetch", "JSON", "TestSupport"]),
    media.tests("ThumbHashTests", ["ThumbHash", "TestSupport"]),
    media.tests("MediaFilesTests", ["MediaFiles", "MediaFormats", "System", "TestSupport"]),
    media.tests("MediaFormatsTests", ["MediaFormats", "TestSupport"]),
    media.tests(
      "MediaProbeTests",
      ["MediaProbe", "MediaFormats", "Feed", "ThumbHash", "System", "TestSupport"]),
    media.tests(
      "MediaIndexTests",
      [
        "MediaIndex", "MediaFiles", "MediaProbe", "SQLiteStore", "Catalog", "Feed", "PostJSON",
        "System", "TestSupport",
      ]),
    formats.tests(
      "FeedFormatsTests", ["FeedFormats", "PostJSON", "Feed", "JSON", "TestSupport"],
      excluding: ["Expected"]),
    formats.tests(
      "SeedingTests",
      [
        "Seeding", "FeedFormats", "ModelStore", "Catalog", "Compression", "CZstd", "Feed",
        "TestSupport",
      ]),
    stores.tests("PostgresTests", ["Postgres", "PostgresTestSupport", "TestSupport"]),
    stores.tests(
      "PostgresStoreTests",
      [
        "Catalog", "Feed", "JSON", "Migrations", "PostJSON", "Postgres", "PostgresStore",
        "PostgresTestSupport", "Prefetch", "RowStore", "SQLiteStore", "Seeding", "TestSupport",
      ]),
    // The contract of every store, tested on SQLite, on PostgreSQL and on the model.
    stores.tests(
      "StoreContractTests",
      [
        "Catalog", "Feed", "Reports", "Experiments", "Prefetch", "ModelStore", "RowStore",
        "SQLiteStore", "Postgres",
        "PostgresStore",
        "PostJSON", "Seeding", "PostgresTestSupport", "TestSupport",
      ]),
    stores.tests(
      "BackupsTests",
      ["Backups", "Feed", "System", "Compression", "SQLiteStore", "TestSupport", sqlite]),
    stores.tests(
      "SQLiteStoreTests",
      [
        "SQLiteStore", "RowStore", "Catalog", "Prefetch", "Feed", "PostJSON", "Seeding",
        "Migrations", "SQLiteTestSupport", "TestSupport", sqlite,
      ]),
    client.tests(
      "PrefetchClientTests",
      [
        "PrefetchClient", "PrefetchURLSession", "PostJSON", "Prefetch", "Reports", "Feed",
        "System",
        "TestSupport",
      ]),
    client.tests(
      "ViewingTests",
      ["Viewing", "PrefetchClient", "Prefetch", "Feed", "Sockets", "System", "TestSupport"]),
    lab.tests(
      "LabTests",
      ["Lab", "LinkModel", "PostJSON", "Feed", "Prefetch", "Statistics", "TestSupport"]),
    lab.tests(
      "ShapedLinkTests",
      ["ShapedLink", "Prefetch", "Feed", "Sockets", "System", "TestSupport"]),
    // On the model store only: SQLite is not linked.
    server.tests(
      "FeedServerTests",
      [
        "FeedServer", "ModelStore", "Catalog", "Feed", "Reports", "Experiments", "Prefetch",
        "PostJSON", "Seeding",
        "JSON",
        "Compression", "HTTP", "HTTPServer", "Sockets", "System", "MediaFiles", "MediaProbe",
        "MediaFormats", "Observability", "Page", "ShapedLink", "TestSupport", "SHA2", logging,
      ]),
    server.tests(
      "ServiceTests",
      [
        "Service", "FeedServer", "SQLiteStore", "Migrations", "Backups", "Seeding", "Feed",
        "Prefetch", "MediaProbe", "MediaIndex", "System", "Catalog", "Observability", "RowStore",
        "Reports", "Experiments", "PostgresTestSupport", "SQLiteTestSupport", "TestSupport",
        logging,
        sqlite,
      ]),
    command.tests(
      "CommandTests",
      [
        "lookahead", "Service", "FeedServer", "Lab", "PostJSON", "Sockets", "Prefetch",
        "PrefetchClient", "Viewing",
        "SQLiteStore", "Catalog", "Feed", "Reports", "Version", "Postgres", "SQLiteTestSupport",
        "PostgresTestSupport", "SHA2", "TestSupport",
      ]),
  ]
)
