import CEmbedded

/// A numbered step from one schema to the next, embedded in the program.
public struct Migration: Hashable, Sendable {
  /// Counts from 1 without a gap.
  public let version: Int
  /// The file's name without its ending, `0001-store`.
  public let name: String
  /// The file's text.
  public let sql: String

  /// A migration that is not in a file: for tests of the migrator.
  public init(version: Int, name: String, sql: String) {
    self.version = version
    self.name = name
    self.sql = sql
  }

  /// The files of each database, in order.
  private static let names = [
    "0001-store", "0002-reports", "0003-published-strategies", "0004-usual-parameters",
    "0005-watching", "0006-default-policy", "0007-swipe-strategies",
    "0008-experiments", "0009-text-search", "0010-changes", "0011-schedules",
  ]

  /// The files of `sqlite`, in order.
  public static let sqlite = embedded(in: "sqlite", names)

  /// The files of `postgres`, in order.
  public static let postgres = embedded(in: "postgres", names)

  /// The files of a folder; a name begins with its version.
  private static func embedded(in folder: String, _ names: [String]) -> [Migration] {
    names.enumerated().map { index, name in
      guard let file = embedded_file("\(folder)/\(name).sql")?.pointee else {
        preconditionFailure("\(folder)/\(name).sql is not in CEmbedded.c")
      }
      let sql = UnsafeBufferPointer(start: file.bytes, count: file.count)
      return Migration(version: index + 1, name: name, sql: String(decoding: sql, as: UTF8.self))
    }
  }
}
