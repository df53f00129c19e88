/// A frame at which decoding begins, to be asked whether frames that come behind it, and are shown before it,
/// can be decoded without what came before it.
///
/// They cannot where the key frame is one of an open group of pictures: they refer to the group before, too.
/// A decoder that begins there passes them over (ITU-T H.265 section 8.1.3; H.264 has no such frames at all
/// behind a picture of which nothing before is needed, section 7.4.1.2.4).
struct KeyFrame {
  /// How many parts of the frame are looked at: all but the first slices are small.
  private static let partLimit = 64

  let codec: String
  /// How many bytes the length of each part has.
  let lengthBytes: Int?
  /// Where the frame lies.
  let range: Range<Int64>

  /// Whether leading frames are decoded.
  func decodesLeadingFrames(_ reader: ByteReader) throws -> Bool {
    guard codec == "hevc", let lengthBytes else { return false }
    var offset = range.lowerBound
    for _ in 0..<Self.partLimit {
      guard offset + Int64(lengthBytes) < min(range.upperBound, reader.size) else { break }
      var head = try reader.fields(at: offset, count: lengthBytes + 1, in: "key frame")
      let length = Int64(try head.number(lengthBytes))
      // The types of NAL units (H.265 table 7-1): below 32 are slices, 19 and 20 are of a picture before
      // which nothing is needed.
      let kind = try head.byte() >> 1 & 0x3f
      if kind < 32 { return kind == 19 || kind == 20 }
      offset += Int64(lengthBytes) + length
    }
    return false
  }
}
