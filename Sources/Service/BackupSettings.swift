/// How a service backs its database up by itself.
public struct BackupSettings: Sendable, Hashable {
  /// The folder of the backups: of this database's and no other's.
  public var folder: String
  /// The time from one backup to the next.
  public var intervalSeconds = 86_400
  /// How many are kept.
  public var kept = 7
  /// Whether they are made as gzip.
  public var isCompressed = true

  /// The defaults, into this folder.
  public init(folder: String) {
    self.folder = folder
  }
}
