import Catalog
import RowStore

extension SQLiteStore: DatabaseStore {
  /// Where the file is.
  public var name: String { path }

  /// See `DatabaseStore`.
  public var kind: String { "sqlite" }

  /// SQLite's version, and what is to be known of it.
  public func software() -> String { SQLiteLibrary.summary }

  /// None: a file that may not be written is not opened.
  public func writeProblem() -> String? { nil }

  /// A look at the file costs next to nothing: nobody tells of writes.
  public var hearsOfChanges: Bool { false }

  /// A file that is gone, or another's, is one that this server alone has lost.
  public var outlivesDatabase: Bool { false }

  /// Returns at once.
  public func waitForChanges(atMostMilliseconds limit: Int) {}

  /// See `DatabaseStore.prune`.
  ///
  /// - Throws: `StoreError`, `FeedError.unknownFeed`.
  public func prune(
    _ rule: PruningRule, isDryRun: Bool, onProgress: (PruningSummary) -> Void
  ) throws -> PruningSummary {
    try Pruning(self, rule: rule, isDryRun: isDryRun).run(onProgress: onProgress)
  }

  /// See `DatabaseStore.lockMedia`.
  ///
  /// - Throws: `SystemError` where the file cannot be made.
  public func lockMedia() throws -> (any Sendable)? {
    try MediaLock(path: MediaLock.path(ofDatabase: path))
  }
}

/// The schema of a SQLite file.
public struct SQLiteSchema: DatabaseSchema {
  private let path: String
  private let file: DatabaseFile.Options

  /// The schema of the file at the path.
  public init(path: String, file: DatabaseFile.Options = DatabaseFile.Options()) {
    (self.path, self.file) = (path, file)
  }

  /// See `DatabaseSchema`.
  ///
  /// - Throws: `StoreError`.
  public func migrate() throws -> [String] { try Schema.migrate(path: path, options: file) }

  /// See `DatabaseSchema`.
  ///
  /// - Throws: `StoreError`.
  public func status() throws -> [MigrationStatus] { try Schema.status(path: path, options: file) }

  /// See `DatabaseSchema`.
  ///
  /// - Throws: `StoreError`.
  public func verify() throws { try Schema.verify(path: path, options: file) }
}
