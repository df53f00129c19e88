/// A small picture, upright: red, green, blue and alpha of each pixel, row by row from the top, each 0…255.
/// The colours are not multiplied by alpha.
package struct PixelImage: Hashable, Sendable {
  /// Pixels from left to right.
  package let width: Int
  /// Pixels from top to bottom.
  package let height: Int
  /// Four bytes a pixel.
  package let rgba: [UInt8]

  /// How wide and how high it is at the most: more adds nothing to a hash of some thirty coefficients.
  package static let largestSide = 100

  /// A picture of these pixels; `nil` where a side is not in 1…100, or the bytes are not as many as it has.
  package init?(width: Int, height: Int, rgba: [UInt8]) {
    let sides = 1...Self.largestSide
    guard sides.contains(width), sides.contains(height), rgba.count == width * height * 4 else {
      return nil
    }
    self.width = width
    self.height = height
    self.rgba = rgba
  }

  /// The picture mirrored, left to right, where `isMirrored` says so, and then turned clockwise by this many
  /// right angles.
  package func turned(isMirrored: Bool, clockwiseQuarterTurns turns: Int) -> PixelImage {
    let isTurned = turns & 1 == 1
    let (newWidth, newHeight) = isTurned ? (height, width) : (width, height)
    var pixels: [UInt8] = []
    pixels.reserveCapacity(rgba.count)
    for y in 0..<newHeight {
      for x in 0..<newWidth {
        // Where the pixel at x, y comes from, before the turn.
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

  /// As many pixels as another has, with its sides perhaps exchanged.
  private init(turning other: PixelImage, width: Int, height: Int, rgba: [UInt8]) {
    self.width = width
    self.height = height
    self.rgba = rgba
  }

  /// The mean of its colours, each pixel counted as much as it covers; nil where nothing is covered.
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
