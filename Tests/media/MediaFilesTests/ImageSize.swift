/// The width and height of an image, where its header says them.
struct ImageSize {
  let width: Int
  let height: Int

  /// Nil of a type that has no place here.
  init?(_ bytes: [UInt8], _ type: String) {
    let file = ContainerOutline(bytes)
    switch type {
    case "image/png":
      (width, height) = (file.number(at: 16, width: 4), file.number(at: 20, width: 4))
    case "image/gif":
      (width, height) = (file.littleNumber(at: 6, width: 2), file.littleNumber(at: 8, width: 2))
    case "image/jpeg":
      guard let frame = file.jpegFrame else { return nil }
      height = file.number(at: frame + 5, width: 2)
      width = file.number(at: frame + 7, width: 2)
    case "image/avif":
      // The property `ispe` (ISO/IEC 23008-12 section 6.5.3).
      guard let property = file.offset(of: "ispe") else { return nil }
      width = file.number(at: property + 8, width: 4)
      height = file.number(at: property + 12, width: 4)
    case "image/webp": (width, height) = Self.webP(file)
    default: return nil
    }
  }

  /// Of the canvas, or of the one picture of a simple file (RFC 9649 sections 2.5 to 2.7).
  private static func webP(_ file: ContainerOutline) -> (Int, Int) {
    guard file.offset(of: "VP8X") == 12 else {
      return (
        file.littleNumber(at: 26, width: 2) & 0x3fff, file.littleNumber(at: 28, width: 2) & 0x3fff
      )
    }
    return (
      1 + file.littleNumber(at: 24, width: 3), 1 + file.littleNumber(at: 27, width: 3)
    )
  }
}
