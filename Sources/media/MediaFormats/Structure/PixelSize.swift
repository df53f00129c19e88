/// A width and a height in pixels, each above 0.
package struct PixelSize: Sendable, Hashable {
  /// The width.
  package let width: Int
  /// The height.
  package let height: Int

  /// Creates a size; both numbers must be above 0.
  package init(width: Int, height: Int) {
    precondition(width > 0 && height > 0)
    self.width = width
    self.height = height
  }

  /// Returns nil if either number is not above 0.
  init?(_ width: Int, _ height: Int) {
    guard width > 0, height > 0 else { return nil }
    self.init(width: width, height: height)
  }

  /// The size with width and height exchanged.
  var turned: PixelSize { PixelSize(width: height, height: width) }

  /// The size with square pixels, if each pixel has the aspect ratio `horizontal` to `vertical`. The height
  /// stays; the width is rounded to the nearest pixel, as in players.
  func stretched(_ horizontal: Int64, _ vertical: Int64) -> PixelSize {
    guard horizontal > 0, vertical > 0, horizontal != vertical else { return self }
    let (product, isTooLarge) = Int64(width).multipliedReportingOverflow(by: horizontal)
    guard !isTooLarge else { return self }
    let stretched = product / vertical + (product % vertical >= (vertical + 1) / 2 ? 1 : 0)
    guard stretched > 0, stretched <= Int64(Int32.max) else { return self }
    return PixelSize(width: Int(stretched), height: height)
  }
}

/// The orientation of a decoded picture: the eight values of EXIF 2.32 section 4.6.4, as numbers 1 to 8.
package struct PictureOrientation: Sendable, Hashable {
  /// EXIF's value: 1 is upright.
  package let exifValue: Int

  /// The orientation of a picture that is shown as stored.
  package static let upright = PictureOrientation(isMirrored: false, clockwiseQuarterTurns: 0)

  /// Returns nil if EXIF has no such value.
  package init?(exifValue: Int) {
    guard (1...8).contains(exifValue) else { return nil }
    self.exifValue = exifValue
  }

  /// Creates the orientation that first mirrors left to right and then turns.
  init(isMirrored: Bool, clockwiseQuarterTurns turns: Int) {
    let values = isMirrored ? [2, 7, 4, 5] : [1, 6, 3, 8]
    exifValue = values[turns & 3]
  }

  /// Whether left and right are exchanged before the turn.
  package var isMirrored: Bool { [2, 4, 5, 7].contains(exifValue) }

  /// The number of clockwise quarter turns after mirroring.
  package var clockwiseQuarterTurns: Int {
    switch exifValue {
    case 6, 7: 1
    case 3, 4: 2
    case 5, 8: 3
    default: 0
    }
  }

  /// Whether width and height are exchanged.
  package var swapsAxes: Bool { exifValue >= 5 }
}
