import Foundation
import Glibc
import Observability
import TestSupport
import Testing

@Suite struct LogFileTests {
  let folder = TemporaryFolder()

  private func write(_ text: String, to file: Observability.LogFile) {
    _ = text.withCString { Glibc.write(file.descriptor, $0, strlen($0)) }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: folder.file(name), encoding: .utf8)
  }

  @Test func `after a file was moved away, the log goes on in a new one`() throws {
    let file = try Observability.LogFile(path: folder.file("log"))
    write("one\n", to: file)
    try FileManager.default.moveItem(atPath: folder.file("log"), toPath: folder.file("log.1"))
    write("two\n", to: file)
    let number = file.descriptor
    try file.reopen()
    #expect(file.descriptor == number)
    write("three\n", to: file)
    // And what was there is added to.
    try file.reopen()
    write("four\n", to: file)
    #expect(try text("log.1") == "one\ntwo\n")
    #expect(try text("log") == "three\nfour\n")
    #expect(fcntl(number, F_GETFD) & FD_CLOEXEC != 0)
  }

  @Test func `where it cannot be opened anew, it goes on in the old one`() throws {
    let file = try Observability.LogFile(path: folder.file("log"))
    try FileManager.default.moveItem(atPath: folder.file("log"), toPath: folder.file("log.1"))
    try FileManager.default.createDirectory(
      atPath: folder.file("log"), withIntermediateDirectories: false)
    let error = #expect(throws: Observability.LogFile.Failure.self) { try file.reopen() }
    #expect("\(error!)" == "cannot write the log \(folder.file("log")): Is a directory")
    write("one\n", to: file)
    #expect(try text("log.1") == "one\n")
  }

  @Test func `a file that cannot be written is named`() {
    let error = #expect(throws: Observability.LogFile.Failure.self) {
      try Observability.LogFile(path: "/nowhere/log")
    }
    #expect("\(error!)" == "cannot write the log /nowhere/log: No such file or directory")
  }
}
