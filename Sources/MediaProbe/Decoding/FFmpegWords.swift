/// What FFmpeg writes to its standard error, for a person: bytes of a stranger's file may stand in it.
struct FFmpegWords {
  /// The first line, without who says it and of which file: `moov atom not found`.
  let first: String
  private let all: String

  /// How much of it is shown, in characters.
  private static let shownCharacters = 160

  init(_ errors: [UInt8]) {
    all = String(decoding: errors, as: UTF8.self)
    var line = all.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    // `[mov,mp4,m4a,3gp,3g2,mj2 @ 0x5644e2d95d40] `
    if line.hasPrefix("["), let end = line.firstRange(of: "] ") {
      line.removeSubrange(..<end.upperBound)
    }
    line = line.replacing("file:/dev/fd/0: ", with: "")
    first = line.isEmpty ? "nothing is said" : String(line.prefix(Self.shownCharacters))
  }

  var isEmpty: Bool { all.isEmpty }

  /// It is this FFmpeg that cannot do it, not the file that cannot be done.
  var tellsOfMissingDecoder: Bool {
    [
      "Decoder (codec", "Unknown decoder", "not implemented", "not currently supported",
      "error while loading shared libraries",
    ].contains { all.contains($0) }
  }

  /// It wanted more memory than it may have.
  var tellsOfMissingMemory: Bool {
    [
      "Cannot allocate memory", "Failed to allocate", "failed to allocate",
      // The dynamic linker's.
      "failed to map segment",
    ].contains { all.contains($0) }
  }
}
