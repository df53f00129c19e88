import CEmbedded

/// A numbered step from one schema to the next, embedded in the program.
public struct Migration: Hashable, Sendable {
  /// The version, from 1, without gaps.
  public let version: Int
  /// The file's name without its extension, `0001-store`.
  public let name: String
  /// The file's text.
  public let sql: String

  /// Creates a migration that is not in a file, for tests of the migrator.
  public init(version: Int, name: String, sql: String) {
    self.version = version
    self.name = name
    self.sql = sql
  }

  /// The files of `sqlite` that CEmbedded.c lists, in order.
  public static let sqlite = embedded(in: "sqlite")

  /// The files of `postgres` that CEmbedded.c lists, in order.
  public static let postgres = embedded(in: "postgres")

  /// The files of a folder, in order of their names, which begin with their versions.
  private static func embedded(in folder: String) -> [Migration] {
    var files: [(name: String, sql: String)] = []
    for row in 0... {
      guard let file = embedded_file_at(row)?.pointee else { break }
      let path = String(cString: file.name)
      guard path.hasPrefix("\(folder)/") else { continue }
      let sql = UnsafeBufferPointer(start: file.bytes, count: file.count)
      files.append(
        (
          String(path.dropFirst(folder.count + 1).dropLast(".sql".count)),
          String(decoding: sql, as: UTF8.self)
        ))
    }
    files.sort { $0.name < $1.name }
    return files.enumerated().map { index, file in
      Migration(version: index + 1, name: file.name, sql: file.sql)
    }
  }
}
