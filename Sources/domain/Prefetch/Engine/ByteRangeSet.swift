/// A set of a file's bytes: ranges in ascending order, none of them empty, none adjacent to another.
public struct ByteRangeSet: Hashable, Sendable {
  /// The maximum number of ranges of a file that the engine keeps, and that a plan's state has: one for each
  /// chunk of a clip.
  public static let rangeLimit = 256

  /// The ranges.
  public private(set) var ranges: [Range<Int>] = []
  /// The number of bytes in the ranges.
  public private(set) var count = 0

  /// Creates an empty set.
  public init() {}

  /// Creates a set of these ranges, which may come in any order and overlap.
  public init(_ ranges: [Range<Int>]) {
    for range in ranges { insert(range) }
  }

  /// Whether the set is empty.
  public var isEmpty: Bool { ranges.isEmpty }

  /// Inserts a range.
  ///
  /// - Returns: the number of new bytes; `nil`, without a change, if there would be more ranges than `limit`.
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

  /// Removes a range.
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

  /// Removes all bytes.
  public mutating func removeAll() {
    ranges = []
    count = 0
  }

  /// Whether the set contains the whole range.
  public func contains(_ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return true }
    let index = firstIndex(endingAfter: range.lowerBound)
    return index < ranges.count && ranges[index].lowerBound <= range.lowerBound
      && ranges[index].upperBound >= range.upperBound
  }

  /// The number of bytes of the range that the set contains.
  public func count(in range: Range<Int>) -> Int {
    var index = firstIndex(endingAfter: range.lowerBound)
    var count = 0
    while index < ranges.count, ranges[index].lowerBound < range.upperBound {
      count += ranges[index].clamped(to: range).count
      index += 1
    }
    return count
  }

  /// The end of the contiguous bytes from the file's first; 0 if the set lacks the first.
  public var prefix: Int { ranges.first.map { $0.lowerBound == 0 ? $0.upperBound : 0 } ?? 0 }

  /// The end of the contiguous bytes from `start`; `start` itself if the set lacks it.
  public func end(from start: Int) -> Int {
    let index = firstIndex(endingAfter: start)
    guard index < ranges.count, ranges[index].lowerBound <= start else { return start }
    return ranges[index].upperBound
  }

  /// The contiguous bytes from `start`; `nil` if the set lacks it.
  public func run(from start: Int) -> Range<Int>? {
    let end = end(from: start)
    return end > start ? start..<end : nil
  }

  /// The first gap in the range; `nil` if the set contains the whole range.
  public func firstGap(in range: Range<Int>) -> Range<Int>? {
    let start = end(from: range.lowerBound)
    guard start < range.upperBound else { return nil }
    let index = firstIndex(endingAfter: start)
    let end =
      index < ranges.count ? min(ranges[index].lowerBound, range.upperBound) : range.upperBound
    return start..<end
  }

  /// The gaps in the range, in ascending order.
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

  /// The index of the first range whose end satisfies the predicate, which must hold for all ranges behind
  /// it, too.
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
  /// Decodes the ranges that `encode(to:)` wrote.
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

  /// Encodes the ranges.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    for range in ranges { try container.encode(range) }
  }
}
