/// Windows bitmaps (BITMAPFILEHEADER, BITMAPINFOHEADER and their later versions).
enum Bitmap {
  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    let place = "BMP header"
    var fields = try reader.fields(at: 0, count: 26, in: place)
    try fields.skip(14)
    let headerBytes = try fields.littleEndian(4)
    var width: Int
    var height: Int
    var hasAlpha = false
    if headerBytes == 12 {
      // OS/2's first version has 16 bits for each.
      width = Int(try fields.littleEndian(2))
      height = Int(try fields.littleEndian(2))
    } else {
      width = Int(Int32(truncatingIfNeeded: try fields.littleEndian(4)))
      height = Int(Int32(truncatingIfNeeded: try fields.littleEndian(4)))
      if headerBytes >= 56 {
        // From the third version on, the header has a mask of the alpha channel.
        var masks = try reader.fields(at: 66, count: 4, in: place)
        hasAlpha = try masks.littleEndian(4) != 0
      }
    }
    // A negative height means that the top row comes first.
    guard let size = PixelSize(width, abs(height)) else {
      throw FormatError(.malformed("its size is \(width) by \(height)"), at: 18, in: place)
    }
    try size.check(reader.limits, at: 18, in: place)
    return MediaStructure(
      image: type, bytes: reader.size, codedSize: size, hasAlpha: hasAlpha, codec: "bmp",
      start: .whole(reader.size))
  }
}

extension PixelSize {
  /// Throws if the size exceeds the limit of pixels.
  func check(_ limits: MediaLimits, at offset: Int64, in place: String) throws {
    let (pixels, isTooLarge) = Int64(width).multipliedReportingOverflow(by: Int64(height))
    try limits.check(isTooLarge ? .max : pixels, .pixels, at: offset, in: place)
  }
}
