/// The segments of a path (RFC 3986 section 3.3).
public enum PathSegments {
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
