import Feed

/// The choice among a file and its variants.
struct VariantChoice {
  /// The variant's index; `nil` for the file itself.
  let index: Int?
  /// The properties of the chosen file that decide how much of it is loaded ahead.
  let file: MediaLoad

  /// Whether the file is narrower; of the same width, whether it has fewer bytes. An unknown width counts as
  /// wide.
  fileprivate func isNarrower(than other: VariantChoice) -> Bool {
    let (width, otherWidth) = (file.width ?? .max, other.file.width ?? .max)
    return (width, file.bytes ?? .max) < (otherWidth, other.file.bytes ?? .max)
  }
}

extension HintCosts {
  /// The maximum share of the bandwidth that a chosen video takes, since the bandwidth varies.
  private static let bandwidthPercent = 80
  /// The maximum time in which a chosen picture arrives.
  private static let pictureMilliseconds = 2_000
  /// The divisor of the display width that bounds how narrow a picture is chosen for that.
  private static let narrowest = 2

  /// The choice for a client that shows files at this width.
  ///
  /// Without a width it is the file itself: a client that does not say how wide it shows files need not know
  /// of variants. With one, it is the narrowest file that is as wide, or else the widest. While the network
  /// is too slow for it, it is the next one with fewer bytes.
  func choice(of media: MediaLoad) -> VariantChoice {
    let original = VariantChoice(index: nil, file: media)
    guard widthPixels > 0, media.hasVariants else { return original }
    let all = [original] + media.variants.enumerated().map { VariantChoice(index: $0, file: $1) }
    let wide = all.filter { ($0.file.width ?? .max) >= widthPixels }
    let widest = all.compactMap(\.file.width).max()
    var chosen =
      (wide.isEmpty ? all.filter { $0.file.width == widest } : wide)
      .min { $0.isNarrower(than: $1) } ?? original
    while downlinkKbps > 0, !suits(chosen.file) {
      let bytes = chosen.file.bytes ?? .max
      let lighter = all.filter { other in
        let isWideEnough =
          other.file.kind.plays
          || other.file.width.map { $0 >= widthPixels / Self.narrowest } ?? true
        return isWideEnough && (other.file.bytes ?? .max) < bytes
      }
      guard let next = lighter.max(by: { ($0.file.bytes ?? .max) < ($1.file.bytes ?? .max) })
      else { break }
      chosen = next
    }
    return chosen
  }

  /// Whether the network is fast enough for the file. All numbers are within `RecordLimits`, and therefore
  /// exact as `Double`s.
  private func suits(_ file: MediaLoad) -> Bool {
    guard let bytes = file.bytes else { return true }
    let transferMilliseconds = Double(bytes) * 8 / Double(downlinkKbps)
    switch file.kind {
    case .image: return transferMilliseconds <= Double(Self.pictureMilliseconds)
    case .video, .audio:
      guard let duration = file.durationMilliseconds, duration > 0 else { return true }
      return transferMilliseconds * 100 <= Double(duration) * Double(Self.bandwidthPercent)
    }
  }
}
