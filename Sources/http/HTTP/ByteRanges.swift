/// Which bytes of a representation a `Range` field asks for (RFC 9110 section 14).
public enum ByteRanges {
  /// What a field comes to.
  public enum Selection: Sendable, Hashable {
    /// Answer as if there were no `Range`: 200 with all of it.
    case whole
    /// Answer 416.
    case unsatisfiable
    /// Answer 206 with these, in the order in which they were asked for: at least one, none of
    /// them empty, each within the representation.
    case parts([Range<Int>])
  }

  /// Selects from a representation of `size` bytes; `field` is the combined value of `Range`, nil
  /// if there is none.
  ///
  /// A field that is malformed or of another unit is ignored (section 14.2). So is one with more
  /// than `maximumParts` members, or with parts that add up to more bytes than there are: only
  /// ranges that overlap do, and to send those is how one request is made to cost many times the
  /// file (section 17.15). Other ranges that touch or overlap are sent as they were asked for.
  ///
  /// A range that begins beyond the end, and a suffix of no bytes, is left out; if nothing is left
  /// the answer is `unsatisfiable`. A suffix of an empty representation is satisfiable and is the
  /// whole of it (section 14.1.2); as no `Content-Range` can say so, that is `whole`. A number that
  /// `Int` cannot hold counts as the largest one that it can.
  public static func select(_ field: String?, size: Int, maximumParts: Int) -> Selection {
    guard let field else { return .whole }
    let bytes = field.utf8.span
    guard bytes.equalsIgnoringCase(bytes.indices.prefix(6), "bytes=") else { return .whole }
    var rest = bytes.indices.dropFirst(6)
    var parts: [Range<Int>] = []
    var memberCount = 0
    var bytesLeft = size
    while let member = bytes.nextListMember(&rest) {
      memberCount += 1
      guard memberCount <= maximumParts, let spec = Spec(bytes, member) else { return .whole }
      guard let part = spec.part(size: size) else { continue }
      guard !part.isEmpty, part.count <= bytesLeft else { return .whole }
      bytesLeft -= part.count
      parts.append(part)
    }
    if memberCount == 0 { return .whole }
    return parts.isEmpty ? .unsatisfiable : .parts(parts)
  }
}

extension ByteRanges {
  /// `range-spec` (RFC 9110 section 14.1.1), positions and lengths in bytes.
  private enum Spec {
    case closed(first: Int, last: Int)
    case open(first: Int)
    case suffix(length: Int)

    /// nil if it is malformed; a last position before the first is.
    init?(_ bytes: Span<UInt8>, _ range: Range<Int>) {
      var dash = range.lowerBound
      while dash < range.upperBound, bytes[dash] != UInt8(ascii: "-") { dash += 1 }
      guard dash < range.upperBound else { return nil }
      let left = range.lowerBound..<dash
      let right = dash + 1..<range.upperBound
      if left.isEmpty {
        guard let length = Self.number(bytes, right) else { return nil }
        self = .suffix(length: length)
        return
      }
      guard let first = Self.number(bytes, left) else { return nil }
      if right.isEmpty {
        self = .open(first: first)
        return
      }
      guard let last = Self.number(bytes, right), last >= first else { return nil }
      self = .closed(first: first, last: last)
    }

    /// The bytes that it selects; nil if it is not satisfiable.
    func part(size: Int) -> Range<Int>? {
      switch self {
      case .closed(let first, let last): first < size ? first..<(min(last, size - 1) + 1) : nil
      case .open(let first): first < size ? first..<size : nil
      case .suffix(let length): length > 0 ? max(0, size - length)..<size : nil
      }
    }

    /// `1*DIGIT`, at most `Int.max`.
    private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
      if range.isEmpty { return nil }
      var number = 0
      for index in range {
        guard bytes[index].isDigit else { return nil }
        let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
        let (sum, isTooLargeToo) = tens.addingReportingOverflow(Int(bytes[index] - 0x30))
        // Once the largest it stays that: ten times as much is too large again.
        number = isTooLarge || isTooLargeToo ? .max : sum
      }
      return number
    }
  }
}
