extension PixelImage {
  /// The picture's ThumbHash (https://github.com/evanw/thumbhash), 5 to 25 bytes: identical to the result of
  /// the reference implementation in JavaScript for the same pixels.
  ///
  /// The picture is drawn over its mean colour and split into lightness, yellow against blue, red against
  /// green, and coverage. For each, a cosine transform keeps a triangle of the lowest frequencies: a mean, a
  /// scale, and the others as shares of the scale with four bits each. For an identical result, sums are
  /// 64-bit floats in the reference's order, halves are rounded up, and values that exceed their bits
  /// overflow as they do there.
  package var thumbHash: [UInt8] {
    let planes = Planes(self)
    let hasAlpha = planes.hasAlpha
    let lightnessLimit = Double(hasAlpha ? 5 : 7)
    let longest = Double(max(width, height))
    let across = max(1, Self.rounded(lightnessLimit * Double(width) / longest))
    let down = max(1, Self.rounded(lightnessLimit * Double(height) / longest))

    let lightness = spectrum(of: planes.lightness, max(3, across), max(3, down))
    let yellowBlue = spectrum(of: planes.yellowBlue, 3, 3)
    let redGreen = spectrum(of: planes.redGreen, 3, 3)
    let coverage = hasAlpha ? spectrum(of: planes.coverage, 5, 5) : nil

    let isLandscape = width > height
    let head =
      Self.rounded(63 * lightness.mean) | Self.rounded(31.5 + 31.5 * yellowBlue.mean) << 6
      | Self.rounded(31.5 + 31.5 * redGreen.mean) << 12 | Self.rounded(31 * lightness.scale) << 18
      | (hasAlpha ? 1 << 23 : 0)
    let shape =
      (isLandscape ? down : across) | Self.rounded(63 * yellowBlue.scale) << 3
      | Self.rounded(63 * redGreen.scale) << 9 | (isLandscape ? 1 << 15 : 0)
    var hash = [head, head >> 8, head >> 16, shape, shape >> 8].map {
      UInt8(truncatingIfNeeded: $0)
    }
    if let coverage {
      hash.append(
        UInt8(
          truncatingIfNeeded: Self.rounded(15 * coverage.mean)
            | Self.rounded(15 * coverage.scale) << 4))
    }
    var isSecondOfByte = false
    for spectrum in [lightness, yellowBlue, redGreen] + (coverage.map { [$0] } ?? []) {
      for share in spectrum.shares {
        let nibble = UInt8(truncatingIfNeeded: Self.rounded(15 * share))
        if isSecondOfByte { hash[hash.count - 1] |= nibble << 4 } else { hash.append(nibble) }
        isSecondOfByte.toggle()
      }
    }
    return hash
  }

  /// Rounds to the nearest whole number, halves up, as JavaScript's `Math.round` does.
  private static func rounded(_ value: Double) -> Int {
    let floor = value.rounded(.down)
    return Int(value - floor >= 0.5 ? floor + 1 : floor)
  }

  /// The kept frequencies of a plane.
  private struct Spectrum {
    var mean = 0.0
    /// The largest magnitude of the other coefficients.
    var scale = 0.0
    /// The other coefficients, with ±scale mapped to 0…1, in rows from the lowest frequency on.
    var shares: [Double] = []
  }

  /// Returns the lowest frequencies of a plane: in the triangle below the line from `across` to `down`.
  private func spectrum(of plane: [Double], _ across: Int, _ down: Int) -> Spectrum {
    var spectrum = Spectrum()
    for row in 0..<down {
      let vertical = cosines(row, height)
      var column = 0
      while column * down < across * (down - row) {
        let horizontal = cosines(column, width)
        var sum = 0.0
        var index = 0
        for y in 0..<height {
          for x in 0..<width {
            sum += plane[index] * horizontal[x] * vertical[y]
            index += 1
          }
        }
        sum /= Double(width * height)
        if row == 0, column == 0 {
          spectrum.mean = sum
        } else {
          spectrum.shares.append(sum)
          spectrum.scale = max(spectrum.scale, abs(sum))
        }
        column += 1
      }
    }
    if spectrum.scale > 0 {
      for index in spectrum.shares.indices {
        spectrum.shares[index] = 0.5 + 0.5 / spectrum.scale * spectrum.shares[index]
      }
    }
    return spectrum
  }

  private func cosines(_ frequency: Int, _ count: Int) -> [Double] {
    (0..<count).map {
      Cosine.of(Double.pi / Double(count) * Double(frequency) * (Double($0) + 0.5))
    }
  }
}

/// A picture over its mean colour, split into planes.
private struct Planes {
  var lightness: [Double] = []
  var yellowBlue: [Double] = []
  var redGreen: [Double] = []
  var coverage: [Double] = []
  let hasAlpha: Bool

  init(_ image: PixelImage) {
    let rgba = image.rgba
    var (meanRed, meanGreen, meanBlue, sum) = (0.0, 0.0, 0.0, 0.0)
    for offset in stride(from: 0, to: rgba.count, by: 4) {
      let alpha = Double(rgba[offset + 3]) / 255
      meanRed += alpha / 255 * Double(rgba[offset])
      meanGreen += alpha / 255 * Double(rgba[offset + 1])
      meanBlue += alpha / 255 * Double(rgba[offset + 2])
      sum += alpha
    }
    if sum > 0 {
      meanRed /= sum
      meanGreen /= sum
      meanBlue /= sum
    }
    hasAlpha = sum < Double(image.width * image.height)
    for offset in stride(from: 0, to: rgba.count, by: 4) {
      let alpha = Double(rgba[offset + 3]) / 255
      let red = meanRed * (1 - alpha) + alpha / 255 * Double(rgba[offset])
      let green = meanGreen * (1 - alpha) + alpha / 255 * Double(rgba[offset + 1])
      let blue = meanBlue * (1 - alpha) + alpha / 255 * Double(rgba[offset + 2])
      lightness.append((red + green + blue) / 3)
      yellowBlue.append((red + green) / 2 - blue)
      redGreen.append(red - green)
      coverage.append(alpha)
    }
  }
}
