/// Which bytes of a file: ranges that ascend and neither overlap nor touch.
public struct ByteRanges: Hashable, Sendable {
  /// The ranges, none of them empty.
  public private(set) var ranges: [Range<Int>] = []
  /// How many bytes they hold together.
  public private(set) var count = 0

  /// No bytes.
  public init() {}

  /// These bytes; the ranges may come in any order and overlap.
  public init(_ ranges: [Range<Int>]) {
    for range in ranges { insert(range) }
  }

  /// Whether there are none.
  public var isEmpty: Bool { ranges.isEmpty }

  /// Adds the range.
  public mutating func insert(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    // Those that overlap or touch it become one with it.
    let first = index { $0.upperBound >= range.lowerBound }
    var (merged, last) = (range, first)
    while last < ranges.count, ranges[last].lowerBound <= range.upperBound {
      merged =
        min(
          merged.lowerBound, ranges[last].lowerBound)..<max(
          merged.upperBound, ranges[last].upperBound)
      count -= ranges[last].count
      last += 1
    }
    ranges.replaceSubrange(first..<last, with: CollectionOfOne(merged))
    count += merged.count
  }

  /// Takes the range out.
  public mutating func remove(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    let first = index { $0.upperBound > range.lowerBound }
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
  }

  /// The bytes that are there from this position on without a gap; `nil` where the one at it is not.
  public func run(from position: Int) -> Range<Int>? {
    let next = index { $0.upperBound > position }
    guard next < ranges.count, ranges[next].lowerBound <= position else { return nil }
    return position..<ranges[next].upperBound
  }

  /// The first bytes of the range that are not there; `nil` where all are.
  public func firstMissing(in range: Range<Int>) -> Range<Int>? {
    let start = run(from: range.lowerBound)?.upperBound ?? range.lowerBound
    guard start < range.upperBound else { return nil }
    let next = index { $0.lowerBound >= start }
    let end =
      next < ranges.count ? min(ranges[next].lowerBound, range.upperBound) : range.upperBound
    return start..<end
  }

  /// Those of the range that are not there, in their order.
  public func missing(in range: Range<Int>) -> [Range<Int>] {
    var (missing, rest): ([Range<Int>], Range<Int>) = ([], range)
    while !rest.isEmpty, let next = firstMissing(in: rest) {
      missing.append(next)
      rest = next.upperBound..<range.upperBound
    }
    return missing
  }

  /// Whether all of the range is there.
  public func contains(_ range: Range<Int>) -> Bool {
    range.isEmpty || run(from: range.lowerBound).map { $0.upperBound >= range.upperBound } ?? false
  }

  /// The index of the first range of which this is true, as it is of all behind it.
  private func index(where isBehind: (Range<Int>) -> Bool) -> Int {
    var (low, high) = (0, ranges.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(ranges[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
