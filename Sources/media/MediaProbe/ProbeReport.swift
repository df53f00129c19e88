import Feed

/// The result of probing a file.
package struct ProbeReport: Sendable, Hashable {
  /// The facts about the file.
  package var truth: MediaTruth
  /// Further information, or missing facts with the reason.
  package var notes: [ProbeNote]

  /// Creates a report.
  package init(truth: MediaTruth, notes: [ProbeNote] = []) {
    self.truth = truth
    self.notes = notes
  }
}

/// Information for the operator about a file, or about missing facts.
package enum ProbeNote: Sendable, Hashable {
  /// The tables are at the end of the file, so it starts only when nearly all of it has arrived.
  case tablesBehind
  /// Decoding requires a key.
  case encrypted
  /// Without ffmpeg, it is unknown whether the first frame decodes, and what it looks like.
  case noFFmpeg
  /// There is no frame, which is valid: a GIF may have none.
  case noFrame
  /// The installed decoders do not support such files; the value is their message.
  case decoderMissing(String)
  /// FFmpeg needs more memory for the first frame than this limit.
  case decoderOutOfMemory(limitBytes: Int)
  /// The first frame needs more bytes than this limit for URLs.
  case tooLargeToFetch(limitBytes: Int)
  /// The first frame was decoded, but FFmpeg reported errors.
  case decodedWithErrors(String)
  /// The picture has transparent parts that this FFmpeg does not decode: the placeholder shows it without them.
  case transparencyNotDecoded
  /// The container does not state the size of the pictures; ffprobe determined it.
  case sizeFromFFprobe
  /// The size of the pictures is unknown.
  case noSize
  /// Only ffprobe reads the structure: the positions of its parts are unknown.
  case structureFromFFprobe
}

extension ProbeNote: CustomStringConvertible {
  /// The note as a sentence without a full stop.
  package var description: String {
    switch self {
    case .tablesBehind:
      "moov is after the media data, so the beginning of the file alone does not start it; "
        + "lookahead media faststart FILE moves it to the front without loss"
    case .encrypted:
      "it is encrypted: its first frame was not decoded, and there is no placeholder"
    case .noFFmpeg:
      "ffmpeg is not installed: the first frame was not decoded, and there is no placeholder"
    case .noFrame: "it has no frame, so there is no placeholder"
    case .decoderMissing(let words):
      "no installed decoder supports it (\(words)): "
        + "the first frame was not decoded, and there is no placeholder"
    case .decoderOutOfMemory(let limitBytes):
      "decoding the first frame needs more than \(limitBytes) bytes of memory: "
        + "it was not decoded, and there is no placeholder"
    case .tooLargeToFetch(let limitBytes):
      "its first frame needs more than \(limitBytes) bytes of the URL, the limit: "
        + "it was not decoded, and there is no placeholder"
    case .decodedWithErrors(let words): "its first frame decodes with errors: \(words)"
    case .transparencyNotDecoded:
      "the transparency of such files is decoded by heif-convert (Debian's libheif-examples), "
        + "which is not installed: the placeholder has no transparency"
    case .sizeFromFFprobe: "its size is from ffprobe: its container does not state it"
    case .noSize:
      "its container does not state the size of its pictures: the size is unknown, "
        + "the first frame was not decoded, and there is no placeholder"
    case .structureFromFFprobe:
      "its structure is from ffprobe only: how many bytes start it is unknown"
    }
  }
}
