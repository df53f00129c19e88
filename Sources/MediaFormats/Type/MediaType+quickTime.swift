extension MediaType {
  /// Files from before the `ftyp` box: QuickTime's, and the first MP4 files, which only the name
  /// tells from them (QuickTime File Format, "Movie Atoms"). Padding may come before the movie.
  static func quickTime(_ head: MediaHead, _ name: MediaName) -> MediaType? {
    var offset = 0
    while let code = head.code(at: offset + 4), let size = head.number(at: offset, width: 4) {
      switch code {
      case "moov", "mdat":
        // 0 is until the file's end, 1 says that a longer size follows.
        guard size <= 1 || size >= 8 else { return nil }
        return .passive(name.ends(in: "mp4", "m4v") ? "video/mp4" : "video/quicktime")
      case "wide", "free", "skip", "pnot":
        guard size >= 8 else { return nil }
        offset += Int(size)
      default: return nil
      }
    }
    return nil
  }
}
