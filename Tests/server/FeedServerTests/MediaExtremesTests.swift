import Feed
import Foundation
import Glibc
import HTTP
import MediaFiles
import MediaFormats
import TestSupport
import Testing

@testable import FeedServer
@testable import System

/// Whatever a file system says of a file and a clock of the time, the server answers.
@Suite struct MediaExtremesTests {
  static let numbers = [
    Int.min, Int.min + 1, -62_167_219_201, -62_167_219_200, -9_223_372_037, -1, 0, 1, 4_102_444_800,
    9_223_372_036, 9_223_372_037, 10_413_792_000, 253_402_300_799, 253_402_300_800, 1 << 53,
    (1 << 53) + 1, Int.max - 1, Int.max,
  ]
  static let ranges: [String?] = [
    nil, "bytes=0-", "bytes=-1", "bytes=0-0", "bytes=9223372036854775806-",
    "bytes=9223372036854775807-", "bytes=-9223372036854775807", "bytes=0-9223372036854775807",
    "bytes=0-0,-1", "bytes=18446744073709551616-",
  ]

  private static func answer(
    _ status: stat, now: Moment, range: String?, method: HTTP.Method
  ) throws -> Int {
    let file = OpenFile(try Descriptor("/dev/null"), FileStatus(status))
    var text = "\(method.rawValue) /media/a HTTP/1.1\r\nHost: a\r\n"
    text += "If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT\r\n"
    if let range { text += "Range: \(range)\r\n" }
    var parser = RequestParser()
    var position = 0
    let bytes = Array((text + "\r\n").utf8)
    guard case .head = parser.next(bytes.span, &position), let request = parser.takeRequest()
    else { return 0 }
    do {
      try MediaFolder.check(file)
      let type = MediaType(head: [], name: "a")
      let caching = MediaFolder.caching(isImmutable: false, seconds: 0)
      let answer = try MediaAnswer(
        content: .file(file), type: type, caching: caching, now: now
      )
      .response(to: request)
      #expect(answer.bodyLength >= 0)
      if let date = answer.fields["Last-Modified"] {
        #expect(HTTPDate.parse(date, nowSecondsSince1970: 0) == status.st_mtim.tv_sec)
      }
      return answer.status.code
    } catch {
      return Problem(error).status.code
    }
  }

  @Test func `every field of stat and every clock is answered`() throws {
    var statuses: Set<Int> = []
    for number in Self.numbers {
      for range in Self.ranges {
        for method in [HTTP.Method.get, .head] {
          for now in [0, 1_800_000_000, 96_000_000_000, Int.min, Int.max] {
            // Each field on its own, beside ordinary others, and all at once.
            for fields in 0...3 {
              var status = stat()
              status.st_size = fields == 0 || fields == 3 ? number : 1000
              status.st_mtim.tv_sec = fields == 1 || fields == 3 ? number : 1_700_000_000
              status.st_mtim.tv_nsec = fields == 2 || fields == 3 ? number : 5
              let now = Moment(secondsSince1970: now)
              statuses.insert(try Self.answer(status, now: now, range: range, method: method))
            }
          }
        }
      }
    }
    #expect(statuses == [200, 206, 304, 404, 416])
  }

  @Test func `files of any time and size are served or refused, and the server goes on`() throws {
    let folder = TemporaryFolder()
    let media = folder.file("media")
    try FileManager.default.createDirectory(atPath: media, withIntermediateDirectories: true)
    let service = try RunningServer([SeedRecord]()) { $0.mediaRoot = media }
    // 2300 and 1600 are beyond nanoseconds in 64 bits; a file system keeps what it can.
    for (index, seconds) in ([10_413_792_000, -11_676_096_000] + Self.numbers).enumerated() {
      let path = "\(media)/time\(index).gif"
      try Data("GIF89a".utf8).write(to: URL(fileURLWithPath: path))
      let times = [timespec(), timespec(tv_sec: seconds, tv_nsec: 999_999_999)]
      _ = utimensat(AT_FDCWD, path, times, 0)
      for range in Self.ranges {
        let answer = try service.client().get(
          "/media/time\(index).gif", range.map { ["Range": $0] } ?? [:])
        #expect([200, 206, 416].contains(answer.status), "\(seconds) \(range ?? "")")
      }
    }
    // The largest that this file system has: 8 EiB less one on some, 16 TiB on others.
    let path = "\(media)/large.gif"
    try Data("GIF89a".utf8).write(to: URL(fileURLWithPath: path))
    let size = try #require((0...62).lazy.map { Int.max >> $0 }.first { truncate(path, $0) == 0 })
    try #require(utimensat(AT_FDCWD, path, [timespec(), timespec(tv_sec: 1, tv_nsec: 0)], 0) == 0)
    let isServed = size <= MediaFolder.maximumFileBytes
    for range in ["bytes=-1", "bytes=\(size - 1)-", "bytes=0-0", "bytes=0-0,-1"] {
      let answer = try service.client().get("/media/large.gif", ["Range": range])
      #expect(answer.status == (isServed ? 206 : 404), "\(size) \(range)")
    }
    for range in [nil, "bytes=0-", "bytes=-\(Int.max)"] {
      let fields = range.map { "Range: \($0)\r\n" } ?? ""
      let request = "GET /media/large.gif HTTP/1.1\r\nHost: a\r\n\(fields)\r\n"
      let client = try service.client()
      try client.send(Array((request + request).utf8))
    }
    #expect(try service.client().get("/healthz").status == 200)
  }
}
