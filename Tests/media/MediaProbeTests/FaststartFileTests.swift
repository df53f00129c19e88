import Feed
import Foundation
import System
import TestSupport
import Testing

@testable import MediaProbe

/// Files whose tables stand behind are written anew, whole or not at all.
@Suite struct FaststartFileTests {
  private let folder = TemporaryFolder()

  private func copy(_ path: String, as name: String = "clip.mp4") throws -> String {
    try FileManager.default.copyItem(atPath: path, toPath: folder.file(name))
    return folder.file(name)
  }

  /// The sum of every decoded frame, sound and picture.
  private static func frames(_ path: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["ffmpeg", "-v", "error", "-i", path, "-map", "0", "-f", "streamhash", "-"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0 && !text.isEmpty)
    return text
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
  }

  @Test func `a file is written anew in its place, and every sample is as it was`() throws {
    let path = try copy(MadeMedia.clipWithTablesBehind)
    let frames = try Self.frames(path)
    let link = folder.file("link.mp4")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
    // What a killed run left.
    try Data("half".utf8).write(to: URL(fileURLWithPath: path + Faststart.partialSuffix))

    let bytes = try Faststart.rewrite(link)
    #expect(try FileStatus(path: path).bytes == bytes)
    #expect(try FileStatus(path: path).permissions == 0o640)
    #expect(try Self.frames(path) == frames)
    #expect(try names == ["clip.mp4", "link.mp4"])
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
    let report = try MediaProbe().probe(file: path)
    #expect(report.truth.start?.isStartable == true && report.notes == [])
    #expect(try Faststart.rewrite(path) == nil)
  }

  @Test func `to another place it is written where there is nothing yet`() throws {
    let path = try copy(MadeMedia.longClipWithTablesBehind)
    let output = folder.file("front.mp4")
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let bytes = try Faststart.rewrite(path, to: output)
    #expect(try FileStatus(path: output).bytes == bytes)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    #expect(try Self.frames(output) == Self.frames(path))
    #expect(throws: FaststartFileError.exists(path: output)) {
      try Faststart.rewrite(path, to: output)
    }
    #expect(try names == ["clip.mp4", "front.mp4"])
  }

  @Test func `what cannot be done leaves everything as it was`() throws {
    let picture = try copy(MadeMedia.jpeg, as: "still.jpg")
    let whole = try Data(contentsOf: URL(fileURLWithPath: MadeMedia.clipWithTablesBehind))
    let cut = folder.file("cut.mp4")
    try whole.prefix(whole.count - 200).write(to: URL(fileURLWithPath: cut))
    let empty = folder.file("empty.mp4")
    try Data().write(to: URL(fileURLWithPath: empty))
    for path in [picture, cut, empty, folder.file("nothing.mp4"), folder.path] {
      #expect(throws: (any Error).self, "\(path)") { try Faststart.rewrite(path) }
    }
    #expect(try names == ["cut.mp4", "empty.mp4", "still.jpg"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: cut)) == whole.prefix(whole.count - 200))
  }

  @Test func `two runs of one file do not meet`() throws {
    let path = try copy(MadeMedia.clipWithTablesBehind)
    let other = try Descriptor(
      path + Faststart.partialSuffix, [.readingAndWriting, .creating])
    #expect(other.tryLock())
    #expect(throws: FaststartFileError.isBeingMade(path: path)) { try Faststart.rewrite(path) }
    #expect(try names == ["clip.mp4", "clip.mp4\(Faststart.partialSuffix)"])
  }
}
