import Feed

/// Which of a file and its variants is loaded.
struct VariantChoice {
  /// The variant's index; `nil` for the file itself.
  let index: Int?
  /// What of it decides how much of it is loaded ahead.
  let file: MediaLoad

  /// Of two of one width the one with fewer bytes comes first; what is not known to be narrow is wide.
  fileprivate func isNarrower(than other: VariantChoice) -> Bool {
    let (width, otherWidth) = (file.width ?? .max, other.file.width ?? .max)
    return (width, file.bytes ?? .max) < (otherWidth, other.file.bytes ?? .max)
  }
}

extension HintCosts {
  /// A video is chosen so that it takes no more than this share of the bandwidth, which varies.
  private static let bandwidthPercent = 80
  /// A picture is chosen so that it is there in this time, and
  private static let pictureMilliseconds = 2_000
  /// no narrower for that than this part of what it is shown at.
  private static let narrowest = 2

  /// Without a width the file itself: a client that does not say how wide it shows files need not know of variants.
  ///
  /// With one, the narrowest that is as wide, or the widest that there is; from there on the next one with
  /// fewer bytes as long as the network is too slow for it.
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

  /// Whether the network is fast enough for the file. All numbers are within `RecordLimits`, and so are exact
  /// as `Double`s.
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
