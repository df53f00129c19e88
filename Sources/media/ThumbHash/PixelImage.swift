/// A small upright picture: red, green, blue and alpha of each pixel in 0…255, row by row from the top.
/// Alpha is not premultiplied.
package struct PixelImage: Hashable, Sendable {
  /// The width.
  package let width: Int
  /// The height.
  package let height: Int
  /// The pixels, four bytes each.
  package let rgba: [UInt8]

  /// The maximum width and height: more adds nothing to a hash of some thirty coefficients.
  package static let largestSide = 100

  /// Creates a picture of these pixels; `nil` if a side is not in 1…100, or the number of bytes is wrong.
  package init?(width: Int, height: Int, rgba: [UInt8]) {
    let sides = 1...Self.largestSide
    guard sides.contains(width), sides.contains(height), rgba.count == width * height * 4 else {
      return nil
    }
    self.width = width
    self.height = height
    self.rgba = rgba
  }

  /// Returns the picture mirrored left to right, if `isMirrored`, and then turned clockwise by
  /// this many quarter turns.
  package func turned(isMirrored: Bool, clockwiseQuarterTurns turns: Int) -> PixelImage {
    let isTurned = turns & 1 == 1
    let (newWidth, newHeight) = isTurned ? (height, width) : (width, height)
    var pixels: [UInt8] = []
    pixels.reserveCapacity(rgba.count)
    for y in 0..<newHeight {
      for x in 0..<newWidth {
        // The source of the pixel at x, y, before the turn.
        let (turnedX, sourceY) =
          switch turns & 3 {
          case 1: (y, height - 1 - x)
          case 2: (width - 1 - x, height - 1 - y)
          case 3: (width - 1 - y, x)
          default: (x, y)
          }
        let sourceX = isMirrored ? width - 1 - turnedX : turnedX
        let offset = (sourceY * width + sourceX) * 4
        pixels += rgba[offset..<offset + 4]
      }
    }
    return PixelImage(turning: self, width: newWidth, height: newHeight, rgba: pixels)
  }

  /// Creates a picture with the pixels of another one, whose sides may be exchanged.
  private init(turning other: PixelImage, width: Int, height: Int, rgba: [UInt8]) {
    self.width = width
    self.height = height
    self.rgba = rgba
  }

  /// The mean colour, with each pixel weighted by its alpha; nil if the picture is completely transparent.
  package var averageColor: (red: UInt8, green: UInt8, blue: UInt8)? {
    var (red, green, blue, alpha) = (0, 0, 0, 0)
    for offset in stride(from: 0, to: rgba.count, by: 4) {
      let weight = Int(rgba[offset + 3])
      red += weight * Int(rgba[offset])
      green += weight * Int(rgba[offset + 1])
      blue += weight * Int(rgba[offset + 2])
      alpha += weight
    }
    guard alpha > 0 else { return nil }
    func mean(_ sum: Int) -> UInt8 { UInt8((sum + alpha / 2) / alpha) }
    return (mean(red), mean(green), mean(blue))
  }
}
