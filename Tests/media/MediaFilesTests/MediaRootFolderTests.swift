import Glibc
import MediaFiles
import System
import TestSupport
import Testing

struct MediaRootFolderTests {
  @Test(arguments: [
    ("nowhere", "No such file or directory"), ("root/photo.jpg", "Not a directory"),
    ("root/pipe", "Not a directory"), ("root/loop", "Too many levels of symbolic links"),
  ])
  func `a root that is no folder is refused in words`(_ name: String, _ reason: String) throws {
    let folder = try MediaFolder()
    let path = folder.temporary.file(name)
    let error = #expect(throws: MediaError.self) { try MediaRoot(path: path) }
    #expect(error?.description == "cannot open the media folder \(path): \(reason) (openat)")
    guard case .rootUnusable = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func `the root may be a link, and another folder may take its place`() throws {
    let folder = try MediaFolder()
    let current = folder.temporary.file("current")
    try check(symlink("root/album", current))
    let root = try MediaRoot(path: current)
    let before = try root.open(["one.png"])
    #expect(try before.text() == "album/one.png")

    try check(symlink("outside", current + ".new"))
    try check(rename(current + ".new", current))
    #expect(try root.open(["one.png"]).text() == "outside")
    #expect(try before.text() == "album/one.png", "a file that is open stays what it is")

    try check(unlink(current))
    let gone = SystemError(
      call: "openat", purpose: "open the media folder \(current)", code: ENOENT)
    #expect(throws: MediaError.rootUnusable(gone)) { try root.open(["one.png"]) }
  }

  @Test func `an open file keeps its size and its content, whatever becomes of its name`() throws {
    let folder = try MediaFolder()
    let path = "\(folder.rootPath)/photo.jpg"
    var times = [timespec(), timespec(tv_sec: 1_343_516_216, tv_nsec: 987_654_321)]
    try check(utimensat(AT_FDCWD, path, &times, 0))
    let file = try MediaRoot(path: folder.rootPath).open(["photo.jpg"])
    #expect(file.size == 9)
    #expect(file.modified.secondsSince1970 == 1_343_516_216)
    #expect(file.modified.nanoseconds == 987_654_321)

    try check(unlink(path))
    #expect(try file.text() == "photo.jpg")
    #expect(try file.read(at: 6, count: 100) == Array("jpg".utf8))
    #expect(try file.read(at: 2, count: 3) == Array("oto".utf8))
    #expect(try file.read(at: 9, count: 1) == [])
    #expect(try file.read(at: 0, count: 0) == [])
  }
}
