import ArgumentParser
import Catalog
import Foundation
import MediaFiles
import MediaIndex
import PostJSON
import System

struct MediaSweepCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sweep",
    abstract: "List or delete media files that no post names.",
    discussion: """
      Lists pictures, clips and sounds in the media root that no post of the database names, as \
      media, poster, thumbnail, avatar or anywhere else in the post, in any spelling, and that are \
      not renditions of a named file. Not listed: other files, files in or below the folder of a \
      playlist, and files that changed within --older-than days. Also lists uploads that killed \
      servers left behind, and resumable uploads that were not continued for --older-than days. \
      Nothing is deleted without --delete. If no post names any of the files, nothing is deleted \
      either: the database probably belongs to another media root.
      """)

  @OptionGroup var options: DatabaseOptions

  @Option(help: "Folder of the files under /media/, or s3://bucket/prefix.")
  var mediaRoot: String?

  @Option("older-than", valueName: "days") var olderThan: Int?

  @Flag(help: "Delete what is listed.")
  var delete = false

  /// The default of `--older-than`: after an upload, writers have a day to write the post that shows the
  /// file.
  private static let usualDays = 1

  mutating func validate() throws {
    mediaRoot = mediaRoot ?? Environment.text("media-root")
    try Setting.validate(self)
    guard mediaRoot != nil else {
      throw ValidationError("--media-root is missing")
    }
  }

  func run() throws {
    let storage = try MediaStorage.named(mediaRoot ?? "")
    let store = try options.openExisting()
    let sweeping = Result { try sweep(storage, store) }
    try store.close()
    try sweeping.get()
  }

  private func sweep(_ storage: MediaStorage, _ store: any FeedStore & MediaStore) throws {
    CurrentThread.schedule(.background)
    let days = olderThan ?? Self.usualDays
    let now = WallClock.exactNow
    let newest = Moment(
      secondsSince1970: now.secondsSince1970 - days * 86_400, nanoseconds: now.nanoseconds)
    let meter = ProgressMeter()
    defer { meter.clear() }
    var media = try UnusedMedia(storage, .served, store, changedBy: newest) { meter.report($0) }
    var posts = 0
    try store.exportRecords { record in
      media.look(in: record.json)
      posts += 1
      if posts % 1_000 == 0 { meter.show("\(posts) posts looked at, \(media.count) files") }
    }
    let unused = try media.unused()
    meter.clear()
    let bytes = unused.reduce(0) { $0 + $1.bytes }
    if !unused.isEmpty { printRow("bytes", "days", "file") }
    for file in unused {
      let age = (now.secondsSince1970 - file.changed.secondsSince1970) / 86_400
      printRow("\(file.bytes)", "\(age)", MediaAddresses.served.urls(of: file.segments)[0])
    }
    print(
      "\(unused.count) files that no post names, \(bytes) bytes; \(media.kept.words(days: days))")
    if delete, !unused.isEmpty, media.kept.named == 0 {
      printError(
        "no post names any file of this media root: nothing deleted; is this the right database?"
      )
      throw ExitCode.failure
    }
    let rests = try sweepUploads(storage, newest)
    if rests.files > 0 {
      print("\(rests.files) abandoned uploads, \(rests.bytes) bytes")
    }
    guard delete else {
      if unused.count + rests.files > 0 { print("nothing deleted; use --delete to delete") }
      return
    }
    let deleted = try media.delete(unused)
    var parts = ["deleted \(deleted.files) files"]
    if deleted.renditions > 0 { parts.append("\(deleted.renditions) renditions") }
    if rests.files > 0 { parts.append("\(rests.files) uploads") }
    print(parts.joined(separator: ", ") + ", \(deleted.bytes + rests.bytes) bytes")
    if deleted.kept > 0 {
      print("\(deleted.kept) files kept: they changed, or a post names them now")
    }
  }

  /// Deletes uploads that are not running, and that have not changed since `newest`.
  private func sweepUploads(
    _ storage: MediaStorage, _ newest: Moment
  ) throws -> (files: Int, bytes: Int) {
    let folder: UploadFolder
    switch storage {
    case .folder(let root): folder = UploadFolder(root)
    // The store does not report how many bytes have arrived.
    case .bucket(let bucket):
      let count = try bucket.abortUnfinished(
        begunBefore: newest.secondsSince1970, isDry: !delete)
      return (count, 0)
    }
    var found = try folder.sweep(isDry: !delete)
    let partial = PartialUploads(folder)
    for entry in try partial.all() where entry.changed <= newest {
      guard let bytes = entry.bytes, case .file(let file) = try partial.take(entry.id) else {
        continue
      }
      found.files += 1
      found.bytes += bytes
      if delete { try partial.remove(entry.id) }
      withExtendedLifetime(file) {}
    }
    return found
  }

  private func printRow(_ bytes: String, _ days: String, _ file: String) {
    func right(_ text: String, _ width: Int) -> String {
      String(repeating: " ", count: max(0, width - text.count)) + text
    }
    print("\(right(bytes, 13))  \(right(days, 5))  \(file)")
  }
}

extension UnusedMedia.Kept {
  fileprivate func words(days: Int) -> String {
    var parts = ["\(named) files are named by posts"]
    if young > 0 { parts.append("\(young) changed within \(days) days") }
    if besidePlaylists > 0 { parts.append("\(besidePlaylists) are in folders of playlists") }
    if others > 0 { parts.append("\(others) are not pictures, clips or sounds") }
    return parts.joined(separator: ", ")
  }
}
