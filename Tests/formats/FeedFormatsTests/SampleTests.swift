import FeedFormats
import Foundation
import TestSupport
import Testing

/// The samples of `Fixtures/formats` come out as `Expected/` has them, which was read by a person.
struct SampleTests {
  static let names = Sample.formats.map(\.name)

  private func expected(_ name: String) throws -> [String] {
    try Repository.text("Tests/formats/FeedFormatsTests/Expected/\(name).txt")
      .split(separator: "\n").map(String.init)
  }

  private func format(_ name: String) throws -> FeedFormat {
    try #require(Sample.formats.first { $0.name == name }?.format)
  }

  @Test(arguments: names)
  func `a sample comes out as it should, and what is not kept is counted`(_ name: String) throws {
    let reading = Reading(try Sample.bytes(name), try format(name), settings: Sample.settings)
    #expect(reading.records + ["not kept: \(reading.omissions)"] == (try expected(name)))
  }

  @Test(arguments: names)
  func `what a sample is written in is told by its content`(_ name: String) throws {
    let bytes = try Sample.bytes(name)
    #expect(try FeedFormat.guess(bytes, columns: Sample.columns) == format(name))
  }

  @Test(arguments: names, TestRandom.seeds)
  func `a sample is the same however its bytes come`(_ name: String, _ seed: UInt64) throws {
    let bytes = try Sample.bytes(name)
    let format = try format(name)
    let whole = Reading(bytes, format, settings: Sample.settings)
    let each = Array(1...bytes.count)
    #expect(Reading(bytes, format, settings: Sample.settings, ends: each) == whole)
    var random = TestRandom(seed)
    for _ in 0..<20 {
      var ends: [Int] = []
      while (ends.last ?? 0) < bytes.count {
        ends.append(min(bytes.count, (ends.last ?? 0) + random.number(1...random.number(1...900))))
      }
      #expect(
        Reading(bytes, format, settings: Sample.settings, ends: ends) == whole, TestRandom.replay)
    }
  }

  @Test(arguments: names)
  func `a sample that was cut off anywhere says so, and all that stood before it is there`(
    _ name: String
  ) throws {
    let bytes = try Sample.bytes(name)
    let format = try format(name)
    let whole = Reading(bytes, format, settings: Sample.settings).records
    for count in stride(from: 1, to: bytes.count - 2, by: 7) {
      let cut = Reading(Array(bytes[..<count]), format, settings: Sample.settings).records
      let good = cut.filter { !$0.contains(": !") }
      // A row is a line: one that was cut may still be one.
      if format != .csv {
        #expect(cut.contains { $0.contains(": !") }, "\(count)")
        #expect(good.allSatisfy(whole.contains), "\(count)")
      }
      #expect(cut.count <= whole.count + 1, "\(count)")
    }
  }

  /// Bytes that mean something in one format or another.
  private static let telling =
    Array("<>&;\"'/\\{}[],:=!?-\n\r\t \u{0}0e.\u{e9}%#]".utf8) + [0xff, 0xc3]

  @Test(arguments: names, TestRandom.seeds)
  func `a damaged sample is read as records or refused, the same however its bytes come`(
    _ name: String, _ seed: UInt64
  ) throws {
    let bytes = try Sample.bytes(name)
    let format = try format(name)
    var random = TestRandom(seed)
    for _ in 0..<TestRandom.often(60, nightly: 300) {
      var damaged = bytes
      for _ in 0..<random.number(1...6) {
        let place = random.number(0...damaged.count - 1)
        switch random.number(0...3) {
        case 0: damaged[place] = random.one(of: Self.telling)
        case 1: damaged.insert(random.one(of: Self.telling), at: place)
        case 2: damaged.removeSubrange(place..<min(damaged.count, place + random.number(1...40)))
        default:
          let piece = damaged[place..<min(damaged.count, place + random.number(1...80))]
          damaged.insert(contentsOf: Array(piece), at: random.number(0...damaged.count))
        }
        if damaged.isEmpty { damaged = [0] }
      }
      var settings = Sample.settings
      settings.recordLimitBytes = random.one(of: [200, 2_000, 1 << 20])
      settings.documentLimitBytes = random.one(of: [2_000, 1 << 20])
      let whole = Reading(damaged, format, settings: settings)
      let half = damaged.count / 2
      let cut = Reading(
        damaged, format, settings: settings,
        ends: [half, min(half + 1, damaged.count), damaged.count])
      #expect(whole == cut, TestRandom.replay)
      _ = try? FeedFormat.guess(damaged, columns: Sample.columns)
    }
  }
}
