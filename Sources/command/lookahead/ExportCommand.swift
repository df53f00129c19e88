import ArgumentParser
import Backups
import Foundation
import PostJSON

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write every feed and post as NDJSON that `seed` reads back.",
    discussion: "The order is canonical: feeds with a title by name, then posts by id.")

  @OptionGroup var options: DatabaseOptions

  /// The number of bytes that are written at once.
  private static let bufferBytes = 1 << 16

  func run() throws {
    if let path = try options.location().path { try Backup.requireNone(at: path) }
    let store = try options.openExisting()
    // Closes the store after errors, too, so that no files remain beside the database.
    defer { try? store.close() }
    var buffer: [UInt8] = []
    try store.exportRecords { record in
      buffer += record.json
      buffer.append(UInt8(ascii: "\n"))
      if buffer.count >= Self.bufferBytes {
        try printBytes(buffer)
        buffer.removeAll(keepingCapacity: true)
      }
    }
    try printBytes(buffer)
  }
}
