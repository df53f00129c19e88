/// Which bytes of a file there are: ranges in ascending order, none of them empty, none touching another.
public struct ByteRangeSet: Hashable, Sendable {
  /// How many ranges the engine keeps of a file at the most, and a plan's state has: one for each chunk of a clip.
  public static let rangeLimit = 256

  /// The ranges.
  public private(set) var ranges: [Range<Int>] = []
  /// How many bytes they have.
  public private(set) var count = 0

  /// No bytes.
  public init() {}

  /// These bytes; the ranges may come in any order and overlap.
  public init(_ ranges: [Range<Int>]) {
    for range in ranges { insert(range) }
  }

  /// Whether there are none.
  public var isEmpty: Bool { ranges.isEmpty }

  /// Takes in bytes.
  ///
  /// - Returns: how many of them are new; `nil`, and nothing is taken in, where there would be more ranges than
  ///   `limit`.
  @discardableResult
  public mutating func insert(_ range: Range<Int>, limit: Int = .max) -> Int? {
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
      guard ranges.count < limit else { return nil }
      ranges.insert(range, at: first)
    } else {
      ranges[first] = merged
      if last > first + 1 { ranges.removeSubrange(first + 1..<last) }
    }
    let new = merged.count - covered
    count += new
    assert(isInOrder, "ranges overlap, touch or are not counted")
    return new
  }

  /// Leaves bytes out.
  public mutating func remove(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    let first = firstIndex(endingAfter: range.lowerBound)
    var (rest, last): ([Range<Int>], Int) = ([], first)
    while last < ranges.count, ranges[last].lowerBound < range.upperBound {
      let old = ranges[last]
      if old.lowerBound < range.lowerBound { rest.append(old.lowerBound..<range.lowerBound) }
      if old.upperBound > range.upperBound { rest.append(range.upperBound..<old.upperBound) }
      count -= old.count
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: rest)
    count += rest.reduce(0) { $0 + $1.count }
    assert(isInOrder, "ranges overlap, touch or are not counted")
  }

  private var isInOrder: Bool {
    count == ranges.reduce(0) { $0 + $1.count } && ranges.allSatisfy { !$0.isEmpty }
      && zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
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

  /// The bytes that are there from this one on without a gap; `nil` where it is not there itself.
  public func run(from start: Int) -> Range<Int>? {
    let end = end(from: start)
    return end > start ? start..<end : nil
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

  /// Those of these that are not there, in their order.
  public func gaps(in range: Range<Int>) -> [Range<Int>] {
    var (gaps, rest): ([Range<Int>], Range<Int>) = ([], range)
    while !rest.isEmpty, let next = firstGap(in: rest) {
      gaps.append(next)
      rest = next.upperBound..<range.upperBound
    }
    return gaps
  }

  private func firstIndex(endingAfter byte: Int) -> Int { firstIndex { $0 > byte } }

  private func firstIndex(endingAtOrAfter byte: Int) -> Int { firstIndex { $0 >= byte } }

  /// The first range of whose end this is true, as it is of all behind it.
  private func firstIndex(whereEnd isBehind: (Int) -> Bool) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(ranges[middle].upperBound) { high = middle } else { low = middle + 1 }
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
      guard range.lowerBound >= 0, insert(range, limit: Self.rangeLimit) != nil else {
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
