/// Which bytes of a file there are: ranges in ascending order, none of them empty, none touching another.
///
/// Bounded: what would be one range more than `rangeLimit` is not taken in, and says so.
public struct ByteRangeSet: Hashable, Sendable {
  /// How many ranges there are at the most.
  public static let rangeLimit = 64

  /// The ranges.
  public private(set) var ranges: [Range<Int>] = []
  /// How many bytes they have.
  public private(set) var count = 0

  /// No bytes.
  public init() {}

  /// Takes in bytes.
  ///
  /// - Returns: how many of them are new; `nil`, and nothing is taken in, where there would be too many ranges.
  @discardableResult
  public mutating func insert(_ range: Range<Int>) -> Int? {
    guard !range.isEmpty else { return 0 }
    let first = firstIndex(endingAtOrAfter: range.lowerBound)
    var last = first
    var merged = range
    var covered = 0
    while last < ranges.count, ranges[last].lowerBound <= range.upperBound {
      merged =
        min(
          merged.lowerBound, ranges[last].lowerBound)..<max(
          merged.upperBound, ranges[last].upperBound)
      covered += ranges[last].count
      last += 1
    }
    if first == last {
      guard ranges.count < Self.rangeLimit else { return nil }
      ranges.insert(range, at: first)
    } else {
      ranges[first] = merged
      if last > first + 1 { ranges.removeSubrange(first + 1..<last) }
    }
    let new = merged.count - covered
    count += new
    return new
  }

  /// Leaves bytes out; of what lies in the middle of a range where there is room for no further one, also
  /// what lies behind it.
  public mutating func remove(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    var rest: [Range<Int>] = []
    rest.reserveCapacity(ranges.count + 1)
    for held in ranges {
      if held.upperBound <= range.lowerBound || held.lowerBound >= range.upperBound {
        rest.append(held)
        continue
      }
      if held.lowerBound < range.lowerBound { rest.append(held.lowerBound..<range.lowerBound) }
      if held.upperBound > range.upperBound { rest.append(range.upperBound..<held.upperBound) }
    }
    if rest.count > Self.rangeLimit { rest.removeLast() }
    ranges = rest
    count = rest.reduce(0) { $0 + $1.count }
  }

  /// Leaves everything out.
  public mutating func removeAll() {
    ranges = []
    count = 0
  }

  /// Whether all of these bytes are there.
  public func contains(_ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return true }
    let index = firstIndex(endingAfter: range.lowerBound)
    return index < ranges.count && ranges[index].lowerBound <= range.lowerBound
      && ranges[index].upperBound >= range.upperBound
  }

  /// How many of these bytes are there.
  public func count(in range: Range<Int>) -> Int {
    var index = firstIndex(endingAfter: range.lowerBound)
    var count = 0
    while index < ranges.count, ranges[index].lowerBound < range.upperBound {
      count += ranges[index].clamped(to: range).count
      index += 1
    }
    return count
  }

  /// Up to where all bytes from the file's first on are there.
  public var prefix: Int { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

  /// Up to where all bytes from this one on are there: the byte itself where it is not.
  public func end(from start: Int) -> Int {
    let index = firstIndex(endingAfter: start)
    guard index < ranges.count, ranges[index].lowerBound <= start else { return start }
    return ranges[index].upperBound
  }

  /// The first bytes of these that are not there, up to the next that are; `nil` where all are.
  public func firstGap(in range: Range<Int>) -> Range<Int>? {
    let start = end(from: range.lowerBound)
    guard start < range.upperBound else { return nil }
    let index = firstIndex(endingAfter: start)
    let end =
      index < ranges.count ? min(ranges[index].lowerBound, range.upperBound) : range.upperBound
    return start..<end
  }

  private func firstIndex(endingAfter byte: Int) -> Int { firstIndex(endingAtOrAfter: byte + 1) }

  /// The first range whose end is not below this.
  private func firstIndex(endingAtOrAfter byte: Int) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound < byte { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension ByteRangeSet: Codable {
  /// What `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    while !container.isAtEnd {
      let range = try container.decode(Range<Int>.self)
      guard range.lowerBound >= 0, insert(range) != nil else {
        throw DecodingError.dataCorruptedError(
          in: container, debugDescription: "a range below 0, or too many")
      }
    }
  }

  /// Its ranges.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for range in ranges { try container.encode(range) }
  }
}
