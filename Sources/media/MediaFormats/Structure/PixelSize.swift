/// A width and a height in pixels, each above 0.
package struct PixelSize: Sendable, Hashable {
  /// Pixels from left to right.
  package let width: Int
  /// Pixels from top to bottom.
  package let height: Int

  /// A size; both numbers have to be above 0.
  package init(width: Int, height: Int) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
  }

  /// Nil where either is not above 0.
  init?(_ width: Int, _ height: Int) {
    guard width > 0, height > 0 else { return nil }
    self.init(width: width, height: height)
  }

  /// The same with width and height in each other's place.
  var turned: PixelSize { PixelSize(width: height, height: width) }

  /// The size with which square pixels show it, where each of its pixels is `horizontal` to `vertical`: the
  /// height stays, the width is rounded to the nearest pixel, as players do it.
  func stretched(_ horizontal: Int64, _ vertical: Int64) -> PixelSize {
    guard horizontal > 0, vertical > 0, horizontal != vertical else { return self }
    let (product, isTooLarge) = Int64(width).multipliedReportingOverflow(by: horizontal)
    guard !isTooLarge else { return self }
    let stretched = product / vertical + (product % vertical >= (vertical + 1) / 2 ? 1 : 0)
    guard stretched > 0, stretched <= Int64(Int32.max) else { return self }
    return PixelSize(width: Int(stretched), height: height)
  }
}

/// How a decoded picture has to be turned to be shown: the eight orientations of EXIF 2.32 section 4.6.4, as
/// numbers 1 to 8.
package struct PictureOrientation: Sendable, Hashable {
  /// EXIF's number: 1 is upright.
  package let exifValue: Int

  /// Shown as it is stored.
  package static let upright = PictureOrientation(isMirrored: false, clockwiseQuarterTurns: 0)

  /// Nil where EXIF has no such number.
  package init?(exifValue: Int) {
    guard (1...8).contains(exifValue) else { return nil }
    self.exifValue = exifValue
  }

  /// What is first mirrored, left to right, and then turned.
  init(isMirrored: Bool, clockwiseQuarterTurns turns: Int) {
    let values = isMirrored ? [2, 7, 4, 5] : [1, 6, 3, 8]
    exifValue = values[turns & 3]
  }

  /// Whether left and right are exchanged, before the turn.
  package var isMirrored: Bool { [2, 4, 5, 7].contains(exifValue) }

  /// By how many right angles it is to be turned clockwise, after it was mirrored.
  package var clockwiseQuarterTurns: Int {
    switch exifValue {
    case 6, 7: 1
    case 3, 4: 2
    case 5, 8: 3
    default: 0
    }
  }

  /// Whether width and height change places.
  package var swapsAxes: Bool { exifValue >= 5 }
}
