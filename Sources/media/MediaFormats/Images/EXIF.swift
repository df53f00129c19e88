/// The orientation in EXIF data (EXIF 2.32 section 4.5.2: the structure of a TIFF file).
enum EXIF {
  /// The maximum number of bytes inspected: the orientation is among the first entries.
  static let headBytes = 64 << 10

  /// Returns the orientation; upright if it is absent or unreadable, because broken metadata does
  /// not make an image unusable.
  static func orientation(_ bytes: ArraySlice<UInt8>) -> PictureOrientation {
    // JPEG has this prefix before the data, and so do some writers of other formats.
    let mark: [UInt8] = [0x45, 0x78, 0x69, 0x66, 0, 0]
    let data = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes
    return read(Array(data)) ?? .upright
  }

  private static func read(_ bytes: [UInt8]) -> PictureOrientation? {
    let isLittleEndian: Bool
    if bytes.starts(with: [0x49, 0x49, 42, 0]) {
      isLittleEndian = true
    } else if bytes.starts(with: [0x4d, 0x4d, 0, 42]) {
      isLittleEndian = false
    } else {
      return nil
    }
    func number(_ offset: Int, _ width: Int) -> Int? {
      guard offset >= 0, width <= bytes.count - offset else { return nil }
      let digits = bytes[offset..<offset + width]
      return isLittleEndian
        ? digits.reversed().reduce(0) { $0 << 8 | Int($1) } : digits.reduce(0) { $0 << 8 | Int($1) }
    }
    guard let directory = number(4, 4), let count = number(directory, 2) else { return nil }
    for index in 0..<count {
      // A tag, a type, a count, and the value if it fits.
      let entry = directory + 2 + 12 * index
      guard let tag = number(entry, 2) else { return nil }
      if tag == 0x112, number(entry + 2, 2) == 3 {
        return number(entry + 8, 2).flatMap(PictureOrientation.init(exifValue:))
      }
    }
    return nil
  }
}
