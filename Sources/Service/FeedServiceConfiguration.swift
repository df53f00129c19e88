import FeedServer
import SQLiteStore

/// Every setting of the service.
public struct FeedServiceConfiguration: Sendable {
  /// The SQLite file; made and migrated as needed.
  public let databasePath: String
  /// Of the application and its server; its files lie beside the database.
  public var application: ApplicationConfiguration
  /// Of the store; the service itself sets how many connections read.
  public var store = SQLiteStore.Options()

  /// How often the database is looked at for what other processes wrote: a page is behind by no more
  /// than this and the time that it takes to read the change.
  public var refreshIntervalMilliseconds = 20
  /// How often the size of the write-ahead log is looked at.
  public var checkpointIntervalSeconds = 10
  /// How it looks into the files of its media root, where it has one.
  public var mediaProbing = MediaProbing()
  /// How the service backs its database up; nil where it does not.
  public var backups: BackupSettings?

  /// The defaults, on the database at this path.
  public init(databasePath: String) {
    self.databasePath = databasePath
    application = ApplicationConfiguration(scratchFolder: Self.folder(of: databasePath))
  }

  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return parts.isEmpty
      ? "." : parts.count == 1 && parts[0].isEmpty ? "/" : parts.joined(separator: "/")
  }
}
