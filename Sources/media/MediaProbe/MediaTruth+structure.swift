import Feed
import MediaFormats
import ThumbHash

extension MediaTruth {
  /// Creates the facts of a file's structure.
  init(_ structure: MediaStructure) {
    self.init(
      kind: Kind(structure.kind), bytes: Int(structure.bytes), mimeType: structure.type.value,
      codec: structure.videoCodec, soundCodec: structure.audioCodec, hasSound: structure.hasSound,
      width: structure.displaySize?.width, height: structure.displaySize?.height,
      // Useless for a video, and 1 for an image.
      frameCount: structure.kind == .animation ? structure.frameCount : nil,
      durationMilliseconds: structure.durationMilliseconds.map { Int($0) },
      start: MediaTiming(structure.start))
    isEncrypted = structure.isEncrypted
  }
}

extension MediaTruth.Kind {
  fileprivate init(_ kind: MediaStructure.Kind) {
    self =
      switch kind {
      case .image: .image
      case .animation: .animation
      case .video: .video
      case .sound: .sound
      }
  }
}

extension MediaTiming {
  fileprivate init(_ start: MediaStart) {
    self.init(
      isStartable: start.isStartable, headBytes: Int(start.headBytes),
      neededRanges: start.isStartable
        ? [] : start.neededRanges.map { Int($0.lowerBound)..<Int($0.upperBound) },
      scanEnds: start.scanEnds.map { Int($0) },
      curve: start.curve.map { .init(milliseconds: Int($0.milliseconds), bytes: Int($0.bytes)) },
      lead: start.lead.map {
        .init(kilobitsPerSecond: Int($0.kilobitsPerSecond), bytes: Int($0.bytes))
      })
  }
}

extension MediaPlaceholder {
  /// Creates a picture's placeholder; nil if the picture is completely transparent.
  init?(_ image: PixelImage) {
    guard let color = image.averageColor else { return nil }
    self.init(
      thumbHash: image.thumbHash, color: .init(red: color.red, green: color.green, blue: color.blue)
    )
  }
}
