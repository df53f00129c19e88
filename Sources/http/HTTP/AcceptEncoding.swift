/// The content codings that a client accepts, with their weights (RFC 9110 section 12.5.3).
public struct AcceptEncoding: Sendable {
  // Weights in thousandths, 0 for "not acceptable"; nil if the field does not name the coding.
  private var identity: Int?
  private var gzip: Int?
  private var brotli: Int?
  /// The weight of `*`.
  private var others: Int?

  /// Parses the combined value of `Accept-Encoding`.
  ///
  /// An absent field, nil, is treated like an empty one: the client accepts only identity. The RFC would
  /// permit any coding then, but a client that sends no field may not be able to decode.
  ///
  /// A malformed member (a weight above 1 or with more than three decimals, another parameter) is ignored, as
  /// is an unknown coding. If a coding occurs more than once, the least weight counts, so that nothing is
  /// sent that some member refuses. `x-gzip` is `gzip` (section 8.4.1.3).
  public init(_ field: String?) {
    guard let field else { return }
    let bytes = field.utf8.span
    var rest = bytes.indices
    while let member = bytes.nextListMember(&rest) { note(bytes, member) }
  }

  /// The coding to send: of `available`, the one with the highest weight, and of those with equal weights the
  /// first; nil if none is acceptable.
  ///
  /// Identity that the field does not name comes after every other acceptable coding, and is acceptable
  /// unless `*` is refused. The result is always one of `available`.
  public func best(of available: [ContentCoding]) -> ContentCoding? {
    var best: (coding: ContentCoding, rank: Int)?
    for coding in available {
      guard let rank = rank(of: coding) else { continue }
      if let best, best.rank >= rank { continue }
      best = (coding, rank)
    }
    return best?.coding
  }

  /// The weight of an acceptable coding; 0 for identity as the last resort; nil if the coding is not
  /// acceptable.
  private func rank(of coding: ContentCoding) -> Int? {
    let weight: Int
    switch coding {
    case .identity:
      guard let identity else { return others == 0 ? nil : 0 }
      weight = identity
    case .gzip: weight = gzip ?? others ?? 0
    case .brotli: weight = brotli ?? others ?? 0
    }
    return weight == 0 ? nil : weight
  }

  /// Keeps the weight of a member of the form `codings [ weight ]`; ignores any other member.
  private mutating func note(_ bytes: Span<UInt8>, _ member: Range<Int>) {
    var end = member.lowerBound
    while end < member.upperBound, bytes[end] != UInt8(ascii: ";") { end += 1 }
    guard let weight = Self.weight(bytes, end..<member.upperBound) else { return }
    let name = bytes.trimmed(member.lowerBound..<end)
    if bytes.equalsIgnoringCase(name, "gzip") || bytes.equalsIgnoringCase(name, "x-gzip") {
      gzip = min(weight, gzip ?? weight)
    } else if bytes.equalsIgnoringCase(name, "br") {
      brotli = min(weight, brotli ?? weight)
    } else if bytes.equalsIgnoringCase(name, "identity") {
      identity = min(weight, identity ?? weight)
    } else if bytes.equalsIgnoringCase(name, "*") {
      others = min(weight, others ?? weight)
    }
  }

  /// The weight `[ ";" OWS "q=" qvalue ]` in thousandths (RFC 9110 section 12.4.2); nil if it is malformed.
  private static func weight(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
    range.isEmpty ? 1000 : bytes.weight(bytes.trimmed(range.dropFirst()))
  }
}

extension Span where Element == UInt8 {
  /// Removes the next member of a comma-separated list from the front of `rest`, and returns it without the
  /// white space around it; skips empty members (RFC 9110 section 5.6.1.2). nil at the end.
  func nextListMember(_ rest: inout Range<Int>) -> Range<Int>? {
    while !rest.isEmpty {
      var end = rest.lowerBound
      while end < rest.upperBound, self[end] != UInt8(ascii: ",") { end += 1 }
      let member = trimmed(rest.lowerBound..<end)
      rest = min(end + 1, rest.upperBound)..<rest.upperBound
      if !member.isEmpty { return member }
    }
    return nil
  }

  /// The weight of a parameter `q=…` in thousandths (RFC 9110 section 12.4.2); nil if it is malformed.
  func weight(_ parameter: Range<Int>) -> Int? {
    let digits = parameter.dropFirst(2)
    guard equalsIgnoringCase(parameter.prefix(2), "q="), 1...5 ~= digits.count else { return nil }
    var weight = 0
    var unit = 1000
    for index in digits {
      if index == digits.lowerBound + 1 {
        guard self[index] == UInt8(ascii: ".") else { return nil }
      } else {
        guard self[index].isDigit else { return nil }
        weight += unit * Int(self[index] - 0x30)
        unit /= 10
      }
    }
    return weight <= 1000 ? weight : nil
  }

  /// `range` without the optional white space (RFC 9110 section 5.6.3) at either end.
  func trimmed(_ range: Range<Int>) -> Range<Int> {
    var (start, end) = (range.lowerBound, range.upperBound)
    while start < end, self[start].isOptionalWhitespace { start += 1 }
    while start < end, self[end - 1].isOptionalWhitespace { end -= 1 }
    return start..<end
  }
}

/// A content coding that this server supports (RFC 9110 section 8.4.1); the raw value is its name in
/// `Content-Encoding`.
public enum ContentCoding: String, Sendable, Hashable, CaseIterable {
  /// No coding: named in `Accept-Encoding` only, never in `Content-Encoding`.
  case identity
  /// The gzip file format of RFC 1952.
  case gzip
  /// Brotli, RFC 7932.
  case brotli = "br"
}
