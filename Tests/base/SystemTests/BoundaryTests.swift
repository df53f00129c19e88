import Foundation
import TestSupport
import Testing

/// What the sources are to keep to, whoever writes them next.
@Suite struct BoundaryTests {
  private static let sources = Repository.url("Sources")

  /// The lines of a module's files that are no comments, each with the file's name.
  private static func lines(ofModulesBut excluded: Set<String>) throws -> [(
    file: String, text: String
  )] {
    let floors = try FileManager.default.contentsOfDirectory(atPath: sources.path)
    let modules = try floors.flatMap { floor in
      try FileManager.default.contentsOfDirectory(
        atPath: sources.appendingPathComponent(floor).path
      ).map { (floor, $0) }
    }
    return try modules.filter { !excluded.contains($0.1) }.flatMap { floor, module in
      let folder = sources.appendingPathComponent("\(floor)/\(module)")
      let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String }
      return try (files ?? []).filter { $0.hasSuffix(".swift") }.flatMap { file in
        try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
          .split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("//") }
          .map { ("\(module)/\(file)", String($0)) }
      }
    }
  }

  /// Whether a line has what the pattern says: by Foundation, as the standard library's expressions take ten times
  /// as long for all lines.
  private static func contain(
    _ pattern: String
  ) throws -> ((file: String, text: String)) -> Bool {
    let expression = try NSRegularExpression(pattern: pattern)
    return { line in
      let all = NSRange(line.text.startIndex..., in: line.text)
      return expression.firstMatch(in: line.text, range: all) != nil
    }
  }

  @Test func `no thread of ours is a dispatch queue's`() throws {
    let lines = try Self.lines(ofModulesBut: [])
    #expect(lines.count > 10_000)
    let found = try lines.filter(
      Self.contain("\\bDispatch(Queue|Semaphore|Group|Source)?\\b"))
    #expect(found.map(\.file) == [])
  }

  @Test func `the system is called by System and Sockets alone`() throws {
    let calls = [
      "pread", "pwrite", "fsync", "fdatasync", "ftruncate", "fstat", "lstat", "statvfs",
      "fcntl", "opendir", "readdir", "realpath", "usleep", "nanosleep", "sched_yield",
      "clock_gettime", "gmtime_r", "geteuid", "isatty", "getrlimit", "setrlimit", "sysconf",
      "epoll_wait", "eventfd", "accept4", "sendmsg", "sendfile", "sigwait", "mkstemp",
    ]
    let isCall = try Self.contain("\\b(\(calls.joined(separator: "|"))|pthread_\\w+)\\(")
    // The client library brings nothing of the server's along, and builds where there is no Glibc.
    let found = try Self.lines(ofModulesBut: ["System", "Sockets", "CLinux"])
      .filter { $0.file != "PrefetchClient/Kept/SystemFile.swift" && isCall($0) }
    #expect(found.map { "\($0.file): \($0.text)" } == [])
  }
}
