import Feed

/// Reads rows of fields (RFC 4180) with a header. A quoted field may contain line ends and doubled
/// quotation marks. A line may end in LF alone; the delimiter is a comma, a semicolon or a tab,
/// whichever the header has most of.
struct CSVReader: RecordReader {
  private enum State {
    case fieldStart, plain, quoted
    /// After a quotation mark in a quoted field: either a doubled mark or the end of the field.
    case quoteEnd
    /// The row is refused; the reader skips to its end.
    case refused
  }

  private let limitBytes: Int
  private var translation: Translation
  /// Nil until the header line is complete.
  private var delimiter: UInt8?
  private var header: [UInt8] = []
  private var columns: CSVColumns?
  /// Whether the header is invalid, so that no row can be read.
  private var isLost = false

  private var state = State.fieldStart
  private var field: [UInt8] = []
  private var fields: [[UInt8]] = []
  private var rowBytes = 0
  private var problem: String?
  private var line = 1
  private var rowLine = 1
  private var isBehindReturn = false

  init(_ settings: FormatSettings) {
    limitBytes = settings.recordLimitBytes
    translation = Translation(settings)
  }

  var omissions: Omissions { translation.omissions }

  mutating func feed(_ bytes: [UInt8], _ emit: (RawRecord) throws -> Void) rethrows {
    if isLost { return }
    if delimiter == nil {
      header += bytes
      // Search only when these bytes contain a line end or the header is too long, and only up to the limit:
      // the result does not depend on how the input is divided.
      let isTooLong = header.count > limitBytes
      guard isTooLong || bytes.contains(where: { $0 == 0x0a || $0 == 0x0d }),
        let found = Self.delimiter(ofLine: header.prefix(limitBytes))
          ?? (isTooLong ? UInt8(ascii: ",") : nil)
      else { return }
      try begin(found, emit)
    } else {
      for byte in bytes { take(byte) }
      try translation.flush(emit)
    }
  }

  mutating func finish(_ emit: (RawRecord) throws -> Void) rethrows {
    if delimiter == nil, !header.isEmpty {
      try begin(Self.delimiter(ofLine: header + [UInt8(ascii: "\n")]) ?? UInt8(ascii: ","), emit)
    }
    if isLost { return }
    if state == .quoted {
      problem = problem ?? "the input ends within a quoted field: it is incomplete"
    }
    if rowBytes > 0 { endRow() }
    try translation.flush(emit)
  }

  // MARK: The header

  /// Returns the candidate that occurs most often outside quotation marks in the first line; nil
  /// if the line is incomplete.
  static func delimiter(ofLine bytes: some Sequence<UInt8>) -> UInt8? {
    let candidates = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
    var counts = [0, 0, 0]
    var isQuoted = false
    for byte in bytes {
      if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
      if isQuoted { continue }
      if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
        return candidates[counts.firstIndex(of: counts.max() ?? 0) ?? 0]
      }
      if let index = candidates.firstIndex(of: byte) { counts[index] += 1 }
    }
    return nil
  }

  private mutating func begin(
    _ delimiter: UInt8, _ emit: (RawRecord) throws -> Void
  ) rethrows {
    self.delimiter = delimiter
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let bytes = header.starts(with: mark) ? header.dropFirst(mark.count) : header[...]
    header = []
    for byte in bytes { take(byte) }
    try translation.flush(emit)
  }

  // MARK: Rows

  private mutating func take(_ byte: UInt8) {
    if isLost { return }
    if isBehindReturn {
      isBehindReturn = false
      if byte == UInt8(ascii: "\n") { return }
    }
    let isLineEnd = byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    if state == .quoted {
      if byte == UInt8(ascii: "\n") { line += 1 }
      keep()
      if byte == UInt8(ascii: "\"") {
        state = .quoteEnd
      } else if problem == nil {
        field.append(byte)
      }
      return
    }
    if isLineEnd {
      isBehindReturn = byte == UInt8(ascii: "\r")
      if rowBytes > 0 { endRow() }
      line += 1
      rowLine = line
      return
    }
    keep()
    if problem != nil, state != .quoteEnd {
      state = .refused
      return
    }
    takeWithinRow(byte)
  }

  private mutating func takeWithinRow(_ byte: UInt8) {
    switch (state, byte) {
    case (.quoteEnd, UInt8(ascii: "\"")):
      field.append(byte)
      state = .quoted
    case (.fieldStart, UInt8(ascii: "\"")): state = .quoted
    case (_, delimiter): endField()
    case (.quoteEnd, _): refuse("unexpected text after a quoted field")
    case (.plain, UInt8(ascii: "\"")):
      refuse("unexpected quotation mark in an unquoted field")
    default:
      field.append(byte)
      state = .plain
    }
  }

  private mutating func keep() {
    rowBytes += 1
    if rowBytes > limitBytes, problem == nil {
      problem = RawRecordError.tooLong(limitBytes: limitBytes).description
      (field, fields) = ([], [])
    }
  }

  private mutating func refuse(_ problem: String) {
    self.problem = problem
    state = .refused
  }

  private mutating func endField() {
    fields.append(field)
    field.removeAll(keepingCapacity: true)
    state = .fieldStart
  }

  private mutating func endRow() {
    endField()
    defer {
      fields.removeAll(keepingCapacity: true)
      (rowBytes, problem) = (0, nil)
    }
    if let problem {
      translation.refuse(problem, line: rowLine)
      if columns == nil { isLost = true }
      return
    }
    let texts = fields.compactMap { String(validating: $0, as: UTF8.self) }
    guard texts.count == fields.count else {
      translation.refuse("is not UTF-8", line: rowLine)
      if columns == nil { isLost = true }
      return
    }
    if let columns {
      columns.translate(texts, line: rowLine, &translation)
    } else {
      do throws(FormatError) {
        columns = try CSVColumns(header: texts, translation.settings.columns)
      } catch {
        translation.refuse(error.description, line: rowLine)
        isLost = true
      }
    }
  }
}
