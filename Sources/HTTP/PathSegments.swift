/// The segments of a path (RFC 3986 section 3.3).
public enum PathSegments {
  /// Whether nothing in the raw path is percent-encoded that never need be (RFC 3986 section 2.3):
  /// letters, digits, `-`, `.`, `_`. (Some clients encode `~`.) Such a path is another spelling of one
  /// that rules may have been written for.
  public static func isPlainlySpelt(_ path: some StringProtocol) -> Bool {
    var rest = path.utf8[...]
    while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
      let digits = rest[percent...].dropFirst().prefix(2).compactMap(\.hexadecimalValue)
      rest = rest[percent...].dropFirst()
      guard digits.count == 2 else { continue }
      let byte = digits[0] << 4 | digits[1]
      if byte.isUnreserved, byte != UInt8(ascii: "~") { return false }
    }
    return true
  }

  /// The path's segments: split first, then each decoded once, so that an encoded slash stays
  /// inside its segment. A trailing slash gives an empty last segment; `/` gives one empty segment.
  public static func split(
    _ path: some StringProtocol
  ) throws(PercentEncodingError) -> [String] {
    var segments: [String] = []
    var offset = 0
    for piece in path.utf8.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      offset += 1
      do throws(PercentEncodingError) {
        segments.append(try PercentEncoding.decode(Array(piece)[...], plusIsSpace: false))
      } catch {
        throw PercentEncodingError(reason: error.reason, offset: offset + error.offset)
      }
      offset += piece.count
    }
    return segments
  }
}
