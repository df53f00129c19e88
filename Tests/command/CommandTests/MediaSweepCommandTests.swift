import Foundation
import TestSupport
import Testing

/// `lookahead media sweep`, as a user runs it.
@Suite struct MediaSweepCommandTests {
  private let program = Program()

  private var root: String { program.folder.file("media") }

  private func write(_ name: String, bytes: Int = 3) throws {
    let path = "\(root)/\(name)"
    try FileManager.default.createDirectory(
      atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(count: bytes).write(to: URL(fileURLWithPath: path))
  }

  @Test func `files are listed, and deleted when that is asked for`() throws {
    for name in ["used.jpg", "a/free 1.jpg", "b.mp4"] { try write(name) }
    for name in [".uploads/put-dead", ".uploads/part-0123"] { try write(name, bytes: 5) }
    let seed = try program.folder.write(
      #"{"id":"p","type":"image","media":[{"kind":"image","url":"/media/used.jpg"}],"feeds":[{"name":"f"}]}"#,
      to: "posts.ndjson")
    #expect(try program.run("seed", seed).status == 0)
    let young = try program.run("media", "sweep", "--media-root", root)
    #expect(
      young.status == 0
        && young.output.hasPrefix(
          "0 files that no post names, 0 bytes; 0 files are named by posts, 3 changed within 1 days"
        ),
      "\(young.output)")
    let arguments = ["media", "sweep", "--media-root", root, "--older-than", "0"]
    let dry = try program.run(arguments)
    #expect(
      dry.output.split(separator: "\n") == [
        "        bytes   days  file", "            3      0  /media/a/free%201.jpg",
        "            3      0  /media/b.mp4",
        "2 files that no post names, 6 bytes; 1 files are named by posts",
        "2 abandoned uploads, 10 bytes", "nothing deleted; use --delete to delete",
      ], "\(dry.output)\(dry.errors)")
    let done = try program.run(arguments + ["--delete"])
    #expect(
      done.status == 0 && done.output.contains("deleted 2 files, 2 uploads, 16 bytes"),
      "\(done.output)\(done.errors)")
    let left = try FileManager.default.subpathsOfDirectory(atPath: root).sorted()
    #expect(left == [".uploads", ".uploads/lock", "a", "used.jpg"])
    #expect(try program.run(arguments + ["--delete"]).output.contains("deleted 0 files, 0 bytes"))
  }

  @Test func `a database of other files deletes nothing`() throws {
    try write("a.jpg")
    #expect(try program.run("migrate", "up").status == 0)
    let run = try program.run(
      "media", "sweep", "--media-root", root, "--older-than", "0", "--delete")
    #expect(run.status == 1 && run.errors.contains("no post names any file"), "\(run.errors)")
    #expect(FileManager.default.fileExists(atPath: root + "/a.jpg"))
    #expect(try program.run("media", "sweep", "--media-root", root + "/none").status != 0)
    #expect(try program.run("media", "sweep").status == 64)
  }
}
