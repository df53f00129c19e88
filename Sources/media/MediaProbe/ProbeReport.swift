import Feed

/// What was found out about a file.
package struct ProbeReport: Sendable, Hashable {
  /// What is known of it.
  package var truth: MediaTruth
  /// What is to be known besides, or is not known, and why.
  package var notes: [ProbeNote]

  /// What was found out.
  package init(truth: MediaTruth, notes: [ProbeNote] = []) {
    self.truth = truth
    self.notes = notes
  }
}

/// What a person should know of a file, or of what is not known of it.
package enum ProbeNote: Sendable, Hashable {
  /// What a player needs first stands at the file's end: it starts when nearly all is there.
  case tablesBehind
  /// It takes a key to decode it.
  case encrypted
  /// Without ffmpeg it is unknown whether the first frame decodes, and what it looks like.
  case noFFmpeg
  /// There is nothing to see in it, and that is no fault: a GIF may hold no frame.
  case noFrame
  /// The decoders that are installed do not decode such files: what they say of that.
  case decoderMissing(String)
  /// FFmpeg may have no more memory than this, and needs more for the first frame.
  case decoderOutOfMemory(limitBytes: Int)
  /// So much of a URL is not read.
  case tooLargeToFetch(limitBytes: Int)
  /// The first frame was decoded, but FFmpeg complained.
  case decodedWithErrors(String)
  /// The picture has transparent parts which this FFmpeg does not see: the placeholder shows it without.
  case transparencyNotDecoded
  /// Its container does not say how large its pictures are: ffprobe does.
  case sizeFromFFprobe
  /// The size of its pictures is unknown.
  case noSize
  /// The structure is read by ffprobe alone: where bytes lie is not known.
  case structureFromFFprobe
}

extension ProbeNote: CustomStringConvertible {
  /// A sentence without its full stop.
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
