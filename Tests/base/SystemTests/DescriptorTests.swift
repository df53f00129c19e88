import Glibc
import TestSupport
import Testing

@testable import System

@Suite struct DescriptorTests {
  let folder = TemporaryFolder()

  private func file(_ access: Descriptor.Access = [.readingAndWriting, .creating]) throws
    -> Descriptor
  {
    try Descriptor(folder.file("a"), access)
  }

  @Test func `what is written is read, as far as there is something`() throws {
    let file = try file()
    try file.write(Array("hello".utf8)[...])
    try file.write(Array("!".utf8)[...])
    try file.write(Array("J".utf8)[...], at: 0)
    for (offset, count, text) in [(0, 6, "Jello!"), (4, 100, "o!"), (6, 1, ""), (2, 0, "")] {
      #expect(try file.read(at: offset, count: count) == Array(text.utf8))
    }
    try file.cut(to: 2)
    #expect(try file.status.bytes == 2)
    let again = try Descriptor(file.path)
    #expect(try again.readNext(atMost: 1) == Array("J".utf8))
    #expect(try again.readNext(atMost: 9) == Array("e".utf8))
    #expect(try again.readNext(atMost: 9).isEmpty)
    var pieces: [UInt8] = []
    try again.readPieces { pieces += $0 }
    #expect(pieces == Array("Je".utf8))
  }

  @Test func `a call that fails says what was to be done, and why not`() throws {
    let missing = folder.file("none")
    let error = #expect(throws: SystemError.self) { try Descriptor(missing) }
    #expect(error == SystemError(call: "open", purpose: "read \(missing)", code: ENOENT))
    #expect(error?.description == "cannot read \(missing): No such file or directory (open)")
    #expect(throws: SystemError(call: "stat", purpose: "inspect \(missing)", code: ENOENT)) {
      try FileStatus(path: missing)
    }
    _ = try file()
    #expect(
      throws: SystemError(call: "write", purpose: "write \(folder.file("a"))", code: EBADF)
    ) { try file([]).write([1]) }
    _ = symlink(folder.file("a"), folder.file("link"))
    #expect(throws: SystemError.self) { try Descriptor(folder.file("link"), .notThroughLink) }
    #expect(FileSystem.resolvingLinks(folder.file("link"))?.hasSuffix("/a") == true)
    #expect(try FileStatus(path: folder.file("link")).number == file().status.number)
  }

  @Test func `a lock keeps others out for as long as its file is open, in this process too`() throws
  {
    var first: Descriptor? = try file()
    let second = try file()
    #expect(first?.tryLock() == true)
    #expect(!second.tryLock())
    try first?.lockBytes(10..<12)
    #expect(try second.isLocked(11..<12))
    #expect(try !second.isLocked(12..<13))
    #expect(throws: SystemError.self) { try second.lockBytes(0..<20) }
    try second.lockBytes(12..<20)
    first = nil
    #expect(second.tryLock())
    #expect(try !second.isLocked(10..<12))
    try second.lockBytes(10..<12)
  }

  @Test func `a descriptor becomes another's file and keeps its number`() throws {
    let log = try file([.appending, .creating])
    let number = log.number
    try log.write([1])
    try FileSystem.rename(log.path, to: folder.file("moved"))
    try log.become(try file([.appending, .creating]))
    try log.write([2])
    #expect(log.number == number)
    #expect(try Descriptor(folder.file("moved")).read(at: 0, count: 9) == [1])
    #expect(try Descriptor(folder.file("a")).read(at: 0, count: 9) == [2])
    #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `a folder's names are told, those of the longest kind too`() throws {
    let long = String(repeating: "é", count: 127)
    for name in ["a", ".b", long] { _ = try Descriptor(folder.file(name), .creating) }
    #expect(try Set(FileSystem.names(in: folder.path)) == ["a", ".b", long])
    FileSystem.remove(folder.file("a"))
    FileSystem.remove(folder.file("a"))
    #expect(try Set(FileSystem.names(in: folder.path)) == [".b", long])
    #expect(throws: SystemError.self) { try FileSystem.names(in: folder.file(".b")) }
  }
}
