import Foundation
import Glibc
import MediaFiles
import System
import TestSupport

/// A media root with all that must and must not get out of it, and a folder outside.
final class MediaFolder: Sendable {
  static let longestName = String(repeating: "n", count: 255)
  static let deepest = Array(repeating: "d", count: MediaRoot.depthLimit - 1) + ["deep.png"]

  let temporary = TemporaryFolder()

  var rootPath: String { temporary.file("root") }
  var outsidePath: String { temporary.file("outside") }

  /// Every file holds its own path beneath the root, but for those outside, which hold `outside`.
  init() throws {
    try write(["album", "one.png"])
    for name in ["photo.jpg", "a b.png", "\u{e4}.png", "100%25.gif", "line\nfeed.png", "%2e%2e"] {
      try write([name])
    }
    for name in [Self.longestName, "a\\b.png", "a..png"] { try write([name]) }
    try write([".secret"])
    try write([".hidden", "one.png"])
    try write(["album", "..."])
    try write(Self.deepest)
    try makeFolder(outsidePath)
    try Data("outside".utf8).write(to: URL(fileURLWithPath: "\(outsidePath)/one.png"))
    try makeLinks()
    try check(mkfifo("\(rootPath)/pipe", 0o600))
    try check(mknod("\(rootPath)/socket", S_IFSOCK | 0o600, 0))
  }

  private func makeLinks() throws {
    for (name, target) in [
      ("out.png", "../outside/one.png"), ("out-absolute.png", "\(outsidePath)/one.png"),
      ("in.png", "photo.jpg"), ("out", "../outside"), ("out-absolute", outsidePath),
      ("in", "album"), ("here", "."), ("dangling", "nowhere"), ("loop", "loop"),
      ("null", "/dev/null"), ("descriptors", "/proc/self/fd"), ("album/up", ".."),
    ] {
      try check(symlink(target, "\(rootPath)/\(name)"))
    }
    try check(link("\(outsidePath)/one.png", "\(rootPath)/hard.png"))
  }

  private func write(_ segments: [String]) throws {
    let path = ([rootPath] + segments).joined(separator: "/")
    try makeFolder((path as NSString).deletingLastPathComponent)
    try Data(segments.joined(separator: "/").utf8).write(to: URL(fileURLWithPath: path))
  }

  private func makeFolder(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  /// How many descriptors of this process lie in the folder. Others come and go meanwhile, since
  /// tests run side by side.
  var descriptorCount: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count {
      let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
      return target?.hasPrefix(temporary.path) == true
    }
  }
}

/// Throws the current error where a system call says that there is one.
func check(_ result: Int32) throws {
  guard result == 0 else { throw SystemError(call: "a system call", purpose: "prepare a test") }
}

extension OpenFile {
  /// The whole content.
  func text() throws -> String { String(decoding: try read(at: 0, count: size), as: UTF8.self) }
}
