import Feed

/// Reads RSS or Atom, one item at a time.
struct XMLFeedReader: RecordReader {
  private let limitBytes: Int
  private let builder: FeedBuilder
  private let parser: XMLParser?
  private var isDone = false
  private var hasBegun = false
  /// The transcoder of a document in an encoding that Expat does not support.
  private var transcoder: Transcoder?
  /// Bytes that are not parsed yet. Expat scans an unfinished tag again each time more of it arrives, so
  /// small pieces are collected.
  private var waiting: [UInt8] = []
  private static let pieceBytes = 1 << 16

  init(_ format: FeedFormat, _ settings: FormatSettings) {
    limitBytes = settings.recordLimitBytes
    builder = FeedBuilder(format, settings)
    parser = XMLParser(tokenLimitBytes: settings.recordLimitBytes)
    parser?.delegate = builder
    builder.parser = parser
  }

  var omissions: Omissions { builder.translation.omissions }

  mutating func feed(_ bytes: [UInt8], _ emit: (RawRecord) throws -> Void) rethrows {
    var rest = bytes[...]
    while !rest.isEmpty, !isDone {
      let taken = rest.prefix(Self.pieceBytes - waiting.count)
      waiting += taken
      rest = rest.dropFirst(taken.count)
      if waiting.count == Self.pieceBytes { try parse(isLast: false, emit) }
    }
  }

  mutating func finish(_ emit: (RawRecord) throws -> Void) rethrows {
    if !isDone { try parse(isLast: true, emit) }
  }

  private mutating func parse(isLast: Bool, _ emit: (RawRecord) throws -> Void) rethrows {
    let failure = parser.map { parse(with: $0, isLast) } ?? (1, "not enough memory for Expat")
    waiting.removeAll(keepingCapacity: true)
    try builder.translation.flush(emit)
    if let failure {
      isDone = true
      try emit(RawRecord(line: failure.line, problem: failure.problem))
    }
  }

  private mutating func parse(
    with parser: XMLParser, _ isLast: Bool
  ) -> (line: Int, problem: String)? {
    if !hasBegun {
      hasBegun = true
      do throws(FormatError) {
        transcoder = try Transcoder.needed(for: waiting[...])
      } catch {
        return (1, error.description)
      }
      // A byte order mark of UTF-8 takes precedence over the declared encoding.
      if transcoder != nil || waiting.starts(with: [0xef, 0xbb, 0xbf]) { parser.readAsUTF8() }
    }
    guard let transcoder else { return parser.parse(waiting[...], isLast: isLast) }
    let (text, problem) = transcoder.decode(waiting, isLast: isLast)
    // The valid text is parsed before the error is reported.
    return parser.parse(text[...], isLast: isLast && problem == nil)
      ?? problem.map { (parser.currentLine, $0) }
  }
}
