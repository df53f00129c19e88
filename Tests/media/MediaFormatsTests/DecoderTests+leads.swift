import Foundation
import MediaFormats
import TestSupport
import Testing

extension DecoderTests {
  @Test(arguments: triedRecipes)
  func `a player that waits for a lead never stalls, and with a third less it does`(
    _ recipe: Recipe
  ) throws {
    try Self.checkLeads(of: try Self.file(recipe))
  }

  @Test(
    .enabled(if: SharedMedia.arePresent, "the real media are not beside the project"),
    arguments: SharedMedia.videos)
  func `a player of a real video that waits for a lead never stalls`(
    _ entry: SharedMedia.Entry
  ) throws {
    try Self.checkLeads(of: "\(SharedMedia.folder)/\(entry.path)")
  }

  /// Plays the file at the bandwidth of each lead with the packets that ffprobe lists; and for the first and
  /// the last of those that ask for more than the head, with what ffmpeg decodes of the bytes that are there
  /// when it is the hardest.
  private static func checkLeads(of original: String) throws {
    var path = original
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    var start = try MediaStructure(reading: BytesInMemory(bytes)).start
    if !start.isStartable {
      #expect(start.lead.isEmpty)
      bytes = FaststartTests.file(try FaststartPlan(for: BytesInMemory(bytes)), bytes)
      start = try MediaStructure(reading: BytesInMemory(bytes)).start
      path = Self.folder.file("in front")
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    }
    let whole = FFmpeg.frames(of: path)
    let origin = try #require(whole.map(\.seconds).min())
    let player = PlayerModel(try FFmpeg.packets(of: path), originSeconds: origin)
    let all = Int64(bytes.count)

    /// Whether all that is shown by then is decoded of this many first bytes.
    func isDecoded(_ prefix: Double, until seconds: Double) throws -> Bool {
      let shown = Set(whole.filter { $0.seconds - origin <= seconds + 0.0006 })
      return try shown.isSubset(of: frames(bytes, prefix: min(all, Int64(prefix.rounded(.down)))))
    }

    let asking = start.lead.filter { $0.bytes > start.headBytes }
    for row in start.lead {
      let isDecodedToo = row == asking.first || row == asking.last
      let rate = Double(row.kilobitsPerSecond) * 125
      let lead = Double(row.bytes)
      let stall = player.stall { lead + rate * $0 }
      #expect(stall == nil, "at \(row.kilobitsPerSecond) kbit/s")
      let hardest = try #require(player.hardest(kilobitsPerSecond: row.kilobitsPerSecond))
      if isDecodedToo {
        #expect(try isDecoded(lead + rate * hardest.seconds, until: hardest.seconds))
      }
      // The head alone is needed by every player: with less there is no first frame.
      guard row.bytes > start.headBytes else { continue }
      let less = lead * 2 / 3
      #expect(player.stall { less + rate * $0 } != nil, "at \(row.kilobitsPerSecond) kbit/s")
      if isDecodedToo {
        #expect(try !isDecoded(less + rate * hardest.seconds, until: hardest.seconds))
      }
    }
  }
}
