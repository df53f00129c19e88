import Feed
import FeedFormats
import PostJSON

/// What must hold of an input in the format of others, whatever bytes it is.
enum ShapeProperties {
  private static let columns = [
    "a=title", "b=text", "c=media.url", "d=publishedAt", "e=counters.likes", "f=media[1].width",
    "g=id",
  ].compactMap { try? ColumnMapping($0) }

  /// What does not hold, as a sentence. The input's first byte chooses the format and the limits.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let formats = FeedFormat.allCases
    let format = formats[Int(input.choice) % formats.count]
    let isNarrow = Int(input.choice) / formats.count % 2 == 1
    let settings = FormatSettings(
      recordLimitBytes: isNarrow ? 256 : 1 << 16, documentLimitBytes: isNarrow ? 512 : 1 << 16,
      columns: columns, feed: "f")
    let whole = read(input.content, at: [input.content.count], format, settings)
    for ends in input.cuts {
      let other = read(input.content, at: ends, format, settings)
      if other.records != whole.records { return "\(format) cut at \(ends) is other records" }
      if other.omissions != whole.omissions {
        return "\(format) cut at \(ends) leaves out other things"
      }
    }
    let guess = try? FeedFormat.guess(input.content, columns: columns)
    if let guess, let again = try? FeedFormat.guess(input.content, said: guess, columns: columns),
      again != guess
    {
      return "guessed to be \(guess), and once that is said \(again)"
    }
    return whole.records.lazy.compactMap { fault(in: $0) }.first
  }

  private static func read(
    _ bytes: [UInt8], at ends: [Int], _ format: FeedFormat, _ settings: FormatSettings
  ) -> (records: [RawRecord], omissions: Omissions) {
    var reader = format.reader(settings)
    var records: [RawRecord] = []
    var start = 0
    for end in ends {
      reader.feed(Array(bytes[start..<end])) { records.append($0) }
      start = end
    }
    reader.finish { records.append($0) }
    return (records, reader.omissions)
  }

  /// What comes out is one record, or refused for what is in one of its fields.
  private static func fault(in record: RawRecord) -> String? {
    if record.line < 1 { return "a record on line \(record.line)" }
    guard case .success(let bytes) = record.content,
      let decoded = try? RecordDecoder().decode(bytes)
    else { return nil }
    return try? RecordDecoder().decode(decoded.json).json == decoded.json
      ? nil : "\(String(decoding: decoded.json, as: UTF8.self)) is not read as it is written"
  }
}
