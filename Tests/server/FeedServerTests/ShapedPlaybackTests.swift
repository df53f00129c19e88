import Foundation
import MediaFormats
import ShapedLink
import Sockets
import TestSupport
import Testing

/// What a lead promises, held over a slow network: our media route, real sockets, a link that is shaped to
/// the bandwidth of the row. The link's time passes by hand, so that the machine's own pace decides nothing.
@Suite(.enabled(if: FFmpeg.isPresent, "there is no ffprobe to say what has to be there when"))
struct ShapedPlaybackTests {
  private static let folder = "\(SharedFeeds.fixtures)/media"
  private static let service = try! RunningServer { $0.mediaRoot = folder }

  /// Some that ask for more than their first frame: fragmented, WebM, on its side, and usual ones.
  private static let files = [
    "bread-at-five/0.mp4", "starlings-over-the-mill/0.webm", "crab-rescue/0.mp4",
    "harbour-swim/3.mp4", "tin-whistle/0.mp4",
  ]

  private static let stepSeconds = 0.01
  /// What may come later than a steady stream of single bytes brings it: a packet arrives as a whole, and is
  /// seen with the next step of the clock.
  private static func graceBytes(_ kilobitsPerSecond: Int64) -> Double {
    1460 + stepSeconds * Double(kilobitsPerSecond) * 125
  }

  /// Fetches the file; what had arrived of it after each step.
  private static func arrivals(
    of file: String, kilobitsPerSecond: Int64, _ expected: [UInt8]
  ) throws -> [Int] {
    let link = try ShapedLink(
      toPort: service.port,
      LinkSchedule(
        LinkConditions(downlinkKbps: Int(kilobitsPerSecond), uplinkKbps: 1_000_000)),
      pace: .byHand)
    defer { link.stop() }
    let client = try ClientSocket(
      connectingTo: SocketAddress(host: "127.0.0.1", port: link.port), timeoutMilliseconds: 600_000)
    defer { client.close() }
    try client.send(
      Array("GET /media/\(file) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
    // The question leaves with the first step that finds it there.
    while link.figures.waitingDownBytes == 0 { link.pass(milliseconds: 1) }
    var counts: [Int] = []
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var headBytes: Int?
    while received.count - (headBytes ?? 0) < expected.count {
      // The server has put in what the step can send, or all there is.
      let isFed = link.wait(atMostMilliseconds: 600_000) {
        $0.waitingDownBytes > 16_384
          || $0.downBytes + $0.waitingDownBytes >= (headBytes ?? .max) + expected.count
          || headBytes == nil && $0.waitingDownBytes > 0
      }
      try #require(isFed)
      link.pass(milliseconds: Int(stepSeconds * 1000))
      while received.count < link.figures.downBytes {
        received += buffer[..<(try client.receive(into: &buffer))]
      }
      if headBytes == nil {
        headBytes = received.firstRange(of: Array("\r\n\r\n".utf8)).map(\.upperBound)
      }
      if let headBytes { counts.append(received.count - headBytes) }
    }
    #expect(Array(received.suffix(expected.count)) == expected)
    return counts
  }

  @Test(arguments: files)
  func `a player that waits for a lead never stalls on a link of that bandwidth`(
    _ file: String
  ) throws {
    let path = "\(Self.folder)/\(file)"
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    let start = try MediaStructure(reading: BytesInMemory(bytes)).start
    let origin = try #require(FFmpeg.frames(of: path).map(\.seconds).min())
    let player = PlayerModel(try FFmpeg.packets(of: path), originSeconds: origin)
    // The slowest and the fastest of the rows that ask for more than the first frame.
    let rows = start.lead.filter { $0.bytes > start.headBytes }
    for row in [try #require(rows.first), try #require(rows.last)] {
      let counts = try Self.arrivals(
        of: file, kilobitsPerSecond: row.kilobitsPerSecond, bytes)
      let grace = Self.graceBytes(row.kilobitsPerSecond)
      /// What a player has, so long after it began to play with this many bytes.
      func there(_ lead: Double, _ seconds: Double) -> Double {
        let begin = counts.firstIndex { Double($0) >= lead } ?? counts.count - 1
        let step = begin + Int((seconds / Self.stepSeconds).rounded(.down))
        return Double(counts[min(step, counts.count - 1)])
      }
      let lead = Double(row.bytes)
      let stall = player.stall { there(lead, $0) + grace }
      #expect(stall == nil, "at \(row.kilobitsPerSecond) kbit/s")
      // A third less, and it stalls: not only by what a packet is late.
      if lead / 3 > 2 * grace {
        #expect(player.stall { there(lead * 2 / 3, $0) - grace } != nil)
        #expect(player.stall { there(lead * 2 / 3, $0) + grace } != nil)
      }
    }
  }
}
