import Feed

/// A file to be made from another one, which shows the same in fewer bytes.
package struct Rendition: Hashable, Sendable {
  /// The encoding of a rendition.
  package enum Coding: String, CaseIterable, Sendable {
    /// A picture in lossy WebP.
    case picture = "w"
    /// An animation in lossy WebP, which shows it wherever the original is shown, with its transparent parts.
    case animation = "a"
    /// A video in H.264 with AAC, as MP4 with its tables in front.
    case video = "s"
  }

  /// The encoding.
  package let coding: Coding
  /// The width as displayed, in pixels.
  package let width: Int
  /// The height as displayed, in pixels.
  package let height: Int

  init(_ coding: Coding, width: Int, height: Int) {
    (self.coding, self.width, self.height) = (coding, width, height)
  }

  /// The value of `Content-Type`.
  package var mimeType: String { coding == .video ? "video/mp4" : "image/webp" }

  /// Returns the maximum size: a rendition that saves less than a tenth is not worth a choice.
  static func mostBytes(of original: MediaTruth) -> Int { original.bytes / 10 * 9 }

  /// The number that identifies it among the renditions of a content: the shorter side of a
  /// video, the width of others.
  package var rung: Int { coding == .video ? min(width, height) : width }
}

extension Rendition {
  /// The widths of pictures.
  static let pictureWidths = [320, 640, 1_280]
  /// The maximum width of animations.
  static let animationWidth = 640
  /// The shorter sides of videos, and their maximum bit rates in kbit/s.
  static let videoRungs = [(720, 2_500), (480, 1_200), (360, 700), (240, 350), (144, 150)]
  /// The maximum number of renditions of a video.
  static let videoCount = 2
  /// The maximum side of a WebP image (RFC 9649 section 2.6).
  private static let webPSide = 16_383

  /// Returns the renditions to make for a file with these facts, the smallest first. There are none for
  /// sound, for SVG, and for formats that FFmpeg does not read: animations in WebP and AVIF.
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

  /// Returns a rendition with even sides, as required by H.264 with one colour for every four pixels.
  private static func video(short: Int, _ fullWidth: Int, _ fullHeight: Int) -> Rendition {
    let (shorter, longer) = (min(fullWidth, fullHeight), max(fullWidth, fullHeight))
    let long = max(2, (longer * short + shorter) / (2 * shorter) * 2)
    return fullWidth < fullHeight
      ? Rendition(.video, width: short, height: long)
      : Rendition(.video, width: long, height: short)
  }
}
