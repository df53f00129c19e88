import FeedServer
import Foundation
import SQLiteStore

/// Every setting of the service.
public struct FeedServiceConfiguration: Sendable {
  /// The database; made and migrated as needed.
  public let location: StoreLocation
  /// Of the application and its server; its files lie beside a database that is a file.
  public var application: ApplicationConfiguration
  /// How the database is opened; the service itself sets how many connections read.
  public var opening = StoreOpening()

  /// How often the database is looked at for what other processes wrote: a page is behind by no more
  /// than this and the time that it takes to read the change. Where others can wake this one, it looks by itself a
  /// good deal less often.
  public var refreshIntervalMilliseconds = 20
  /// How often the size of the write-ahead log is looked at.
  public var checkpointIntervalSeconds = 10
  /// How it looks into the files of its media root, where it has one.
  public var mediaProbing = MediaProbing()
  /// How the service backs its database up; nil where it does not.
  public var backups: BackupSettings?

  /// The defaults, on this database.
  public init(_ location: StoreLocation) {
    self.location = location
    application = ApplicationConfiguration(
      scratchFolder: location.path.map(Self.folder) ?? NSTemporaryDirectory())
  }

  /// The defaults, on the SQLite file at this path.
  public init(databasePath: String) { self.init(.sqlite(path: databasePath)) }

  private static func folder(of path: String) -> String {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return parts.isEmpty
      ? "." : parts.count == 1 && parts[0].isEmpty ? "/" : parts.joined(separator: "/")
  }
}
