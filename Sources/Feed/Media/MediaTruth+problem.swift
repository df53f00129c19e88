extension MediaTruth {
  /// Why this cannot be true of any file, or is beyond what is kept, and in which field; `nil` where it can.
  /// What has no problem is read back as it was written (`PostJSON`).
  public var problem: (field: String, words: String)? {
    let numbers: [(String, Int?, ClosedRange<Int>)] = [
      ("bytes", bytes, 0...RecordLimits.fileBytes),
      ("width", width, 1...RecordLimits.pixels), ("height", height, 1...RecordLimits.pixels),
      ("frames", frameCount, 1...RecordLimits.number),
      ("durationMs", durationMilliseconds, 0...RecordLimits.number),
    ]
    for (field, number, range) in numbers {
      guard let number, !range.contains(number) else { continue }
      return (field, "\(number) is not in \(range.lowerBound)…\(range.upperBound)")
    }
    // Behind that of the size, in which it lies.
    if let (field, words) = start?.problem(fileBytes: bytes) { return (field, words) }
    let times =
      (start?.curve ?? []).map(\.milliseconds) + (start?.lead ?? []).map(\.kilobitsPerSecond)
    if let time = times.first(where: { !(0...RecordLimits.number).contains($0) }) {
      return ("start", "\(time) is not in 0…\(RecordLimits.number)")
    }
    for (field, text) in [("mimeType", mimeType), ("codec", codec), ("soundCodec", soundCodec)] {
      guard let text else { continue }
      if let words = Self.problem(ofName: text, bytes: RecordLimits.mediaTypeBytes) {
        return (field, words)
      }
    }
    if soundCodec != nil, hasSound != true {
      return ("hasSound", "is not true, though there is a soundCodec")
    }
    if let hash = placeholder?.thumbHash, !MediaPlaceholder.thumbHashBytes.contains(hash.count) {
      return ("thumbhash", "has \(hash.count) bytes")
    }
    if placeholder?.isWhole == false { return ("placeholder", "has no thumbhash, or no color") }
    if let version, MediaVersion(text: version.text) != version {
      return ("version", "is no digest of 32 bytes, no entity tag, or too long")
    }
    return nil
  }

  private static func problem(ofName text: String, bytes: Int) -> String? {
    if text.isEmpty { return "is empty" }
    if text.utf8.count > bytes { return "has \(text.utf8.count) bytes, more than \(bytes)" }
    return text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? nil : "holds a control character"
  }
}
