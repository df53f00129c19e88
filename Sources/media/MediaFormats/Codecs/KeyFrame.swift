/// A key frame, which tells whether a decoder that begins with it can decode its leading frames: those that
/// follow it and are shown before it.
///
/// It cannot if the key frame begins an open group of pictures, because the leading frames refer to the
/// previous group, too. A decoder that begins there skips them (ITU-T H.265 section 8.1.3; in H.264, no such
/// frames follow a picture that needs no earlier one, section 7.4.1.2.4).
struct KeyFrame {
  /// The maximum number of inspected parts of the frame: all parts before the first slices are small.
  private static let partLimit = 64

  let codec: String
  /// The number of bytes in the length field of each part.
  let lengthBytes: Int?
  /// The position of the frame in the file.
  let range: Range<Int64>

  /// Whether a decoder that begins here decodes leading frames.
  func decodesLeadingFrames(_ reader: ByteReader) throws -> Bool {
    guard codec == "hevc", let lengthBytes else { return false }
    var offset = range.lowerBound
    for _ in 0..<Self.partLimit {
      guard offset + Int64(lengthBytes) < min(range.upperBound, reader.size) else { break }
      var head = try reader.fields(at: offset, count: lengthBytes + 1, in: "key frame")
      let length = Int64(try head.number(lengthBytes))
      // NAL unit types (H.265 table 7-1): those below 32 are slices; 19 and 20 belong to a picture
      // that needs no earlier one.
      let kind = try head.byte() >> 1 & 0x3f
      if kind < 32 { return kind == 19 || kind == 20 }
      offset += Int64(lengthBytes) + length
    }
    return false
  }
}
