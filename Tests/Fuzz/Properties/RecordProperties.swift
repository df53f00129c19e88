import Feed
import PostJSON
import FeedFormats

/// What must hold of an input of records, whatever bytes it is.
enum RecordProperties {
  private static let narrowLimitBytes = 64
  private static let usualLimitBytes = 1 << 16

  /// What does not hold, as a sentence. The lowest bit of the input's first byte chooses the limit.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let limitBytes = input.choice & 1 == 0 ? usualLimitBytes : narrowLimitBytes
    let whole = split(input.content, at: [input.content.count], limitBytes)
    for ends in input.cuts {
      let other = split(input.content, at: ends, limitBytes)
      if other != whole { return "cut at \(ends) \(whole) becomes \(other)" }
    }
    for record in whole {
      guard case .success(let bytes) = record.content else { continue }
      if bytes.count > limitBytes { return "a record of \(bytes.count) bytes passes the limit" }
      let fault =
        JSONProperties.fault(in: bytes) ?? recordFault(bytes) ?? itemFault(bytes)
        ?? counterFault(bytes)
      if let fault { return fault }
    }
    return nil
  }

  private static func split(_ bytes: [UInt8], at ends: [Int], _ limitBytes: Int) -> [RawRecord] {
    var splitter = RecordSplitter(recordLimitBytes: limitBytes)
    var records: [RawRecord] = []
    var start = 0
    for end in ends {
      splitter.feed(Array(bytes[start..<end])) { records.append($0) }
      start = end
    }
    splitter.finish { records.append($0) }
    return records
  }

  /// What is read is the same after it was written, and is written as the same bytes.
  private static func recordFault(_ bytes: [UInt8]) -> String? {
    guard let record = try? RecordDecoder().decode(bytes) else { return nil }
    let written = record.json
    if written.contains(UInt8(ascii: "\n")) { return "\(record) is written in two lines" }
    let again: SeedRecord
    do throws(RecordError) {
      again = try RecordDecoder().decode(written)
    } catch {
      return "\(record), written as \(text(written)), is refused: \(error)"
    }
    guard again.json == written, isSame(record, again) else {
      return "\(record), written as \(text(written)), reads as \(again)"
    }
    return nil
  }

  private static func isSame(_ left: SeedRecord, _ right: SeedRecord) -> Bool {
    guard case .post(let post, let placements) = left, case .post(let other, let others) = right
    else { return left == right }
    return post == other && placements.count == others.count
      && Set(placements) == Set(others)
  }

  /// A record for an item says the same as a record.
  private static func itemFault(_ bytes: [UInt8]) -> String? {
    guard case .post(let post, let placements)? = try? RecordDecoder().decode(bytes) else {
      return nil
    }
    guard let item = try? RecordDecoder().decodeItem(bytes, id: post.id) else {
      return "\(text(bytes)) is a record, but none of the item \(post.id)"
    }
    return item.post == post && item.placements ?? [] == placements
      ? nil : "\(text(bytes)) is another item than record"
  }

  private static func counterFault(_ bytes: [UInt8]) -> String? {
    guard let counters = try? RecordDecoder().decodeCounters(bytes) else { return nil }
    let isWithinLimits =
      (1...RecordLimits.counters).contains(counters.count)
      && counters.allSatisfy { $0.value.magnitude <= RecordLimits.number.magnitude }
      && Set(counters.map { Array($0.name.utf8) }).count == counters.count
    return isWithinLimits ? nil : "\(text(bytes)) is read as \(counters)"
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
