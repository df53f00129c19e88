import Feed

extension FeedFormat {
  /// The number of bytes at the start of an input from which its format is guessed.
  package static let tellingBytes = 1 << 14

  /// Guesses the format of an input from its first bytes.
  ///
  /// - Parameters:
  ///   - start: the first `tellingBytes` of the input, or all of it.
  ///   - said: the format that the owner names; nil if unknown. For `records`, the bytes are not inspected.
  ///   - columns: the known mapping of columns, for a CSV.
  /// - Throws: `FormatProblem` if the input is in no known format, or not in the named one.
  package static func guess(
    _ start: [UInt8], said: FeedFormat? = nil, columns: [ColumnMapping] = []
  ) throws(FormatProblem) -> FeedFormat {
    // The decoder refuses each invalid record by its line.
    if said == .records { return .records }
    if let name = FileSignature.name(of: start) {
      // Expat detects UTF-16 by its byte order mark.
      if name == FileSignature.utf16, said == .rss || said == .atom, let said { return said }
      throw FormatProblem("this is \(name)")
    }
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let text = start.starts(with: mark) ? start.dropFirst(mark.count) : start[...]
    let rest = text.drop { $0.isSpace }
    guard let first = rest.first else { return said ?? .records }
    if said == .csv {
      try checkHeader(text, columns)
      return .csv
    }
    switch first {
    case UInt8(ascii: "<"): return try check(try xml(rest), said)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      return try json(rest, said, isMapped: !columns.isEmpty)
    default: return try table(text, said, columns)
    }
  }

  private static func check(
    _ format: FeedFormat, _ said: FeedFormat?
  ) throws(FormatProblem) -> FeedFormat {
    if let said, said != format {
      throw FormatProblem("this is \(format.title), not \(said.title)")
    }
    return format
  }

  // MARK: XML

  private static func xml(_ text: ArraySlice<UInt8>) throws(FormatProblem) -> FeedFormat {
    guard let root = XMLGlance.root(of: text) else {
      throw FormatProblem("this is XML without an element in its first 16 KiB")
    }
    switch root.asciiLowercased {
    case "rss": return .rss
    case "feed": return .atom
    case "rdf":
      throw FormatProblem("this is RSS 1.0 (RDF), which is not supported; use RSS 2.0 or Atom")
    case "html": throw FormatProblem("this is an HTML page, not a feed")
    default: throw FormatProblem("this is XML whose root is <\(root)>: neither RSS nor Atom")
    }
  }

  // MARK: JSON

  private static func json(
    _ text: ArraySlice<UInt8>, _ said: FeedFormat?, isMapped: Bool
  ) throws(FormatProblem) -> FeedFormat {
    switch said {
    case .rss, .atom: throw FormatProblem("this is JSON, not \(said?.title ?? "")")
    case .json, .jsonFeed, .mastodon, .reddit: return said ?? .records
    case nil, .records, .csv: break
    }
    let glance = JSONGlance(text)
    if let format = format(of: glance) { return format }
    if isMapped, !isRecord(glance) { return .json }
    if text.first == UInt8(ascii: "{"), glance.isOverLines {
      let list =
        glance.firstList.map { ": jq -c '.\"\($0)\"[]' extracts the records of its list" } ?? ""
      throw FormatProblem(
        "this is one JSON object over several lines; expected one record per line, or one "
          + "array\(list)"
      )
    }
    return .records
  }

  /// Detects a JSON Feed by its version, in which JSON may escape slashes; or, if the version comes at the
  /// end of the document, by names that occur in no other list of items.
  private static func isJSONFeed(_ glance: JSONGlance) -> Bool {
    if let version = glance.members["version"] ?? nil {
      return version.filter { $0 != "\\" }.contains(/^https?:\/\/(www\.)?jsonfeed\.org\/version\//)
    }
    guard glance.firstList == "items" else { return false }
    return glance.members["home_page_url"] != nil || glance.members["feed_url"] != nil
      || !glance.itemNames.isDisjoint(with: [
        "content_html", "content_text", "date_published", "date_modified", "external_url",
        "banner_image",
      ])
  }

  /// Whether an object is a record of the project: it has a type, or is the record of a feed or of a post.
  private static func isRecord(_ glance: JSONGlance) -> Bool {
    let type = (glance.members["type"] ?? nil).flatMap(PostType.init(rawValue:))
    return type != nil || glance.members["feed"] != nil || glance.members["post"] != nil
  }

  private static func format(of glance: JSONGlance) -> FeedFormat? {
    let members = glance.members
    if isJSONFeed(glance) { return .jsonFeed }
    if ["Listing", "t3"].contains(members["kind"] ?? nil) { return .reddit }
    if members["subreddit"] != nil, members["permalink"] != nil { return .reddit }
    let isStatus =
      members["account"] != nil && members["uri"] != nil
      && (members["content"] != nil || members["reblog"] != nil || members["created_at"] != nil)
    return isStatus ? .mastodon : nil
  }

  // MARK: Tables

  /// Guesses the format of other text. Text that is not recognised counts as records, so that their decoder
  /// reports the invalid lines.
  private static func table(
    _ text: ArraySlice<UInt8>, _ said: FeedFormat?, _ columns: [ColumnMapping]
  ) throws(FormatProblem) -> FeedFormat {
    if let said { throw FormatProblem("this is not \(said.title)") }
    let lines = text.split(maxSplits: 1) { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    let isTable = lines.first?.contains { ",;\t".utf8.contains($0) } ?? false
    let hasRecords = lines.dropFirst().first?.first { !$0.isSpace } == UInt8(ascii: "{")
    guard !columns.isEmpty || (isTable && !hasRecords) else { return .records }
    try checkHeader(text, columns)
    return .csv
  }

  private static func checkHeader(
    _ text: ArraySlice<UInt8>, _ columns: [ColumnMapping]
  ) throws(FormatProblem) {
    // If the header is longer than the inspected bytes, its reader checks it.
    if text.count >= tellingBytes - 3, !text.contains(where: { $0 == 0x0a || $0 == 0x0d }) {
      return
    }
    let settings = FormatSettings(recordLimitBytes: max(1, text.count), columns: columns)
    var reader = CSVReader(settings)
    var problem: String?
    // A header alone makes no record, so anything emitted is an error of the header.
    let header = text.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    reader.feed(Array(header) + [UInt8(ascii: "\n")]) { record in
      if case .failure(let error) = record.content { problem = problem ?? error.description }
    }
    if let problem { throw FormatProblem("this is a CSV: \(problem)") }
  }
}

/// The reason why an input is refused before any of it is read.
package struct FormatProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// A description of the input and the remedy, as a sentence without a full stop.
  package let description: String

  init(_ description: String) { self.description = description }
}

/// Binary formats, recognised by their first bytes.
enum FileSignature {
  /// The name of UTF-16, with what to do about it.
  static let utf16 = "UTF-16; write it as UTF-8 (iconv -f UTF-16 -t UTF-8)"

  private static let known: [(start: [UInt8], name: String)] = [
    ([0x1f, 0x8b], "gzip inside compressed data: decompress it once more"),
    (
      [0x28, 0xb5, 0x2f, 0xfd],
      "Zstandard inside compressed data: decompress it once more"
    ),
    (
      Array("PK\u{3}\u{4}".utf8),
      "a ZIP archive: unpack it; only gzip and Zstandard are supported"
    ),
    (Array("BZh".utf8), "bzip2: decompress it; only gzip and Zstandard are supported"),
    (
      [0xfd, 0x37, 0x7a, 0x58, 0x5a],
      "xz: decompress it; only gzip and Zstandard are supported"
    ),
    (Array("SQLite format 3\u{0}".utf8), "a SQLite database, not a file of posts"),
    ([0xff, 0xfe], utf16), ([0xfe, 0xff], utf16),
    (Array("%PDF".utf8), "a PDF"), ([0x89, 0x50, 0x4e, 0x47], "a picture (PNG)"),
    ([0xff, 0xd8, 0xff], "a picture (JPEG)"),
  ]

  /// The name of the file's format; nil if the file may be text.
  static func name(of start: [UInt8]) -> String? {
    if let found = known.first(where: { start.starts(with: $0.start) }) { return found.name }
    return start.prefix(512).contains(0) ? "not text: it contains zero bytes" : nil
  }
}
