/// The bytes of a representation that a `Range` field selects (RFC 9110 section 14).
public enum ByteRanges {
  /// The result of a selection.
  public enum Selection: Sendable, Hashable {
    /// Answer as without `Range`: 200 with the whole representation.
    case whole
    /// Answer 416.
    case unsatisfiable
    /// Answer 206 with these parts, in the order of the request: at least one, none of them empty, each
    /// within the representation.
    case parts([Range<Int>])
  }

  /// Selects from a representation of `size` bytes; `field` is the combined value of `Range`, nil if it is
  /// absent.
  ///
  /// A field that is malformed or of another unit is ignored (section 14.2). So is one with more than
  /// `maximumParts` members, or with parts of more bytes in total than the representation has: only
  /// overlapping ranges have that, and such a request can make the answer cost many times the file (section
  /// 17.15). Other ranges that touch or overlap are sent as requested.
  ///
  /// A range that begins beyond the end and a suffix of no bytes are left out; if nothing is left, the result
  /// is `unsatisfiable`. A suffix of an empty representation is satisfiable and selects the whole of it
  /// (section 14.1.2); since no `Content-Range` can express that, the result is `whole`. A number that does
  /// not fit an `Int` counts as the largest `Int`.
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
  /// A `range-spec` (RFC 9110 section 14.1.1), with positions and lengths in bytes.
  private enum Spec {
    case closed(first: Int, last: Int)
    case open(first: Int)
    case suffix(length: Int)

    /// nil if it is malformed, which includes a last position before the first.
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

    /// The selected bytes; nil if the range is not satisfiable.
    func part(size: Int) -> Range<Int>? {
      switch self {
      case .closed(let first, let last): first < size ? first..<(min(last, size - 1) + 1) : nil
      case .open(let first): first < size ? first..<size : nil
      case .suffix(let length): length > 0 ? max(0, size - length)..<size : nil
      }
    }

    /// The number `1*DIGIT`, at most `Int.max`.
    private static func number(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
      if range.isEmpty { return nil }
      var number = 0
      for index in range {
        guard bytes[index].isDigit else { return nil }
        let (tens, isTooLarge) = number.multipliedReportingOverflow(by: 10)
        let (sum, isTooLargeToo) = tens.addingReportingOverflow(Int(bytes[index] - 0x30))
        // Once the number is `Int.max`, each further digit overflows again.
        number = isTooLarge || isTooLargeToo ? .max : sum
      }
      return number
    }
  }
}
