import Feed

/// A file that is to be made of another one, to show the same in fewer bytes.
package struct Rendition: Hashable, Sendable {
  /// How it is coded.
  package enum Coding: String, CaseIterable, Sendable {
    /// A picture in lossy WebP.
    case picture = "w"
    /// An animation in lossy WebP, which shows where the animation did, transparent parts and all.
    case animation = "a"
    /// A video in H.264 with AAC, as MP4 with its tables in front.
    case video = "s"
  }

  /// How it is coded.
  package let coding: Coding
  /// As displayed, in pixels.
  package let width: Int
  /// As displayed, in pixels.
  package let height: Int

  init(_ coding: Coding, width: Int, height: Int) {
    (self.coding, self.width, self.height) = (coding, width, height)
  }

  /// `Content-Type`'s value.
  package var mimeType: String { coding == .video ? "video/mp4" : "image/webp" }

  /// How many bytes it has at the most: one that saves less than a tenth is not worth a choice.
  static func mostBytes(of original: MediaTruth) -> Int { original.bytes / 10 * 9 }

  /// What names it among those of one content: of a video its shorter side, of others their width.
  package var rung: Int { coding == .video ? min(width, height) : width }
}

extension Rendition {
  /// How wide pictures are.
  static let pictureWidths = [320, 640, 1_280]
  /// How wide animations are at the most.
  static let animationWidth = 640
  /// The shorter side of videos, and their kbit/s at the most.
  static let videoRungs = [(720, 2_500), (480, 1_200), (360, 700), (240, 350), (144, 150)]
  /// How many of these a video has.
  static let videoCount = 2
  /// A side of WebP has no more pixels (RFC 9649 section 2.6).
  private static let webPSide = 16_383

  /// What is to be made of a file of which this is known, the smallest first. Nothing of sound, of SVG, and
  /// of what FFmpeg does not read: a WebP animation, and one in AVIF.
  package static func ladder(of truth: MediaTruth) -> [Rendition] {
    guard !truth.isEncrypted, let width = truth.width, let height = truth.height else { return [] }
    switch truth.kind {
    case .image where truth.mimeType != "image/svg+xml":
      return pictureWidths.filter { $0 < width }.compactMap {
        scaled(.picture, width: $0, width, height)
      }
    case .animation where ["image/gif", "image/png", "image/apng"].contains(truth.mimeType):
      return [scaled(.animation, width: min(width, animationWidth), width, height)]
        .compactMap(\.self)
    case .video:
      let short = min(width, height)
      return videoRungs.map(\.0).filter { 4 * $0 <= 3 * short }.prefix(videoCount)
        .map { video(short: $0, width, height) }.reversed()
    case .image, .animation, .sound: return []
    }
  }

  private static func scaled(
    _ coding: Coding, width: Int, _ fullWidth: Int, _ fullHeight: Int
  ) -> Rendition? {
    let height = max(1, (2 * fullHeight * width + fullWidth) / (2 * fullWidth))
    return height <= webPSide ? Rendition(coding, width: width, height: height) : nil
  }

  /// Both sides are even: so does H.264 with a colour for every four pixels want it.
  private static func video(short: Int, _ fullWidth: Int, _ fullHeight: Int) -> Rendition {
    let (shorter, longer) = (min(fullWidth, fullHeight), max(fullWidth, fullHeight))
    let long = max(2, (longer * short + shorter) / (2 * shorter) * 2)
    return fullWidth < fullHeight
      ? Rendition(.video, width: short, height: long)
      : Rendition(.video, width: long, height: short)
  }
}
