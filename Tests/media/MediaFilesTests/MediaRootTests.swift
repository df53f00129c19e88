import Foundation
import Glibc
import MediaFiles
import System
import TestSupport
import Testing

struct MediaRootTests {
  /// A path and why nothing is served there.
  typealias Refusal = (segments: [String], absence: MediaError.Absence)

  static let refused: [Refusal] = [
    ([], .notRegularFile),
    ([""], .nameNotServed(index: 0)), (["album", ""], .nameNotServed(index: 1)),
    (["", "photo.jpg"], .nameNotServed(index: 0)),
    (["."], .nameNotServed(index: 0)), ([".", "photo.jpg"], .nameNotServed(index: 0)),
    ([".."], .nameNotServed(index: 0)), (["..", "outside", "one.png"], .nameNotServed(index: 0)),
    (["album", "..", "photo.jpg"], .nameNotServed(index: 1)),
    (["album", "..."], .nameNotServed(index: 1)),
    (["../outside/one.png"], .nameNotServed(index: 0)),
    (["album/one.png"], .nameNotServed(index: 0)), (["/etc/passwd"], .nameNotServed(index: 0)),
    (["photo.jpg\0.png"], .nameNotServed(index: 0)),
    ([".secret"], .nameNotServed(index: 0)), ([".hidden", "one.png"], .nameNotServed(index: 0)),
    ([MediaFolder.longestName + "n"], .nameNotServed(index: 0)),
    (["d"] + MediaFolder.deepest, .tooDeep(segmentCount: 33)),
    (["nothing"], .noSuchFile), (["nothing", "one.png"], .noSuchFile),
    (["photo.jpg", "one.png"], .noSuchFile), (["..%2foutside"], .nameNotServed(index: 0)),
    (["%2e%2e", "outside"], .noSuchFile), (["..\\outside"], .nameNotServed(index: 0)),
    (["album"], .notRegularFile), (["pipe"], .notRegularFile), (["socket"], .notRegularFile),
    (["pipe", "one.png"], .noSuchFile),
    (["out.png"], .noSuchFile), (["out-absolute.png"], .noSuchFile), (["in.png"], .noSuchFile),
    (["out", "one.png"], .noSuchFile), (["out-absolute", "one.png"], .noSuchFile),
    (["in", "one.png"], .noSuchFile), (["here", "photo.jpg"], .noSuchFile),
    (["album", "up", "photo.jpg"], .noSuchFile), (["dangling"], .noSuchFile),
    (["loop"], .noSuchFile), (["null"], .noSuchFile), (["descriptors", "0"], .noSuchFile),
    (["in"], .noSuchFile), (["out"], .noSuchFile),
  ]

  @Test
  func `nothing gets out of the root, and nothing hidden, linked or special in it`() throws {
    let folder = try MediaFolder()
    let root = try MediaRoot(path: folder.rootPath)
    for (segments, absence) in Self.refused {
      #expect(throws: MediaError.notFound(absence), "\(segments)") { try root.open(segments) }
    }
    #expect(folder.descriptorCount == 0)
  }

  @Test(arguments: [
    ["photo.jpg"], ["album", "one.png"], ["a b.png"], ["\u{e4}.png"], ["100%25.gif"],
    ["line\nfeed.png"], ["%2e%2e"], ["a\\b.png"], ["a..png"], [MediaFolder.longestName],
    MediaFolder.deepest,
  ])
  func `a file is served under its name as it is`(_ segments: [String]) throws {
    let folder = try MediaFolder()
    let root = try MediaRoot(path: folder.rootPath)
    var file: OpenFile? = try root.open(segments)
    #expect(try file?.text() == segments.joined(separator: "/"))
    #expect(folder.descriptorCount == 1, "the file's, and no folder's")
    file = nil
    #expect(folder.descriptorCount == 0)
  }

  @Test func `a hard link is a file like any other`() throws {
    let folder = try MediaFolder()
    #expect(try MediaRoot(path: folder.rootPath).open(["hard.png"]).text() == "outside")
  }

  @Test(.enabled(if: geteuid() != 0, "root may read everything"))
  func `a file or folder that may not be read is denied`() throws {
    let folder = try MediaFolder()
    let root = try MediaRoot(path: folder.rootPath)
    try check(chmod("\(folder.rootPath)/photo.jpg", 0))
    try check(chmod("\(folder.rootPath)/album", 0))
    defer { chmod("\(folder.rootPath)/album", 0o700) }
    for segments in [["photo.jpg"], ["album", "one.png"]] {
      let error = #expect(throws: MediaError.self) { try root.open(segments) }
      #expect(
        error?.description
          == "cannot open the media file \"\(segments[0])\": Permission denied (openat)")
    }
    try check(chmod(folder.rootPath, 0o400))
    defer { chmod(folder.rootPath, 0o700) }
    #expect(throws: MediaError.self, "a folder that can be listed only") {
      try MediaRoot(path: folder.rootPath)
    }
    #expect(folder.descriptorCount == 0)
  }
}
