/// Splits an input into JSON values: lines (NDJSON) or the elements of one JSON array; or, for documents of
/// other formats, objects wherever they begin and end.
///
/// It takes bytes incrementally and holds one unfinished record. The first byte that is not white space
/// decides between lines and an array. The splitter finds the end of an element by brackets and quotation
/// marks; the decoder checks whether the element is valid JSON.
package struct RecordSplitter: RecordReader {
  /// The maximum size of a record.
  package let recordLimitBytes: Int

  /// The layout of an input that is not an array.
  package enum Layout: Sendable {
    /// One value on each line.
    case lines
    /// Concatenated objects, each over any number of lines.
    case objects
  }

  private enum Form { case unknown, lines, array, objects }

  /// The tokens that may follow in an array.
  private enum ArrayState {
    case elementOrEnd, element, commaOrEnd, elementOnly, ended
    /// Something unexpected was reported; the rest is skipped, as its position in the array is unknown.
    case lost
  }

  private let layout: Layout
  private var form = Form.unknown
  private var line = 1
  private var record: [UInt8] = []
  private var recordLine = 1
  private var isTooLong = false

  /// The byte order mark U+FEFF in UTF-8, which some programs write first.
  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
  private var isAtStart = true
  private var markBytes = 0

  private var arrayState = ArrayState.elementOrEnd
  private var depth = 0
  private var isInText = false
  private var isEscaped = false

  /// Creates a splitter for one input.
  package init(recordLimitBytes: Int, layout: Layout = .lines) {
    self.recordLimitBytes = recordLimitBytes
    self.layout = layout
  }

  /// Always empty: the input has the project's own records.
  package var omissions: Omissions { Omissions() }

  /// Takes further bytes and passes each record that they complete to `emit`.
  package mutating func feed(_ bytes: [UInt8], _ emit: (RawRecord) throws -> Void) rethrows {
    var rest = bytes[...]
    while let byte = rest.first {
      switch form {
      case .unknown:
        if detect(byte) { rest.removeFirst() }
      case .lines:
        let end = rest.firstIndex(of: UInt8(ascii: "\n"))
        keep(rest[..<(end ?? rest.endIndex)])
        guard let end else { return }
        try emitRecord(emit)
        line += 1
        recordLine = line
        rest = rest[(end + 1)...]
      case .array, .objects:
        try takeArrayByte(byte, emit)
        if byte == UInt8(ascii: "\n") { line += 1 }
        rest.removeFirst()
      }
    }
  }

  /// Passes the remaining record to `emit` at the end of the input.
  package mutating func finish(_ emit: (RawRecord) throws -> Void) rethrows {
    switch form {
    case .unknown:
      guard isAtStart, markBytes > 0 else { break }
      keep(Self.byteOrderMark.prefix(markBytes))
      try emitRecord(emit)
    case .lines: try emitRecord(emit)
    case .array:
      if arrayState != .ended, arrayState != .lost {
        try emit(RawRecord(line: line, content: .failure(.unterminatedArray)))
      }
    case .objects:
      if arrayState == .element {
        try emit(RawRecord(line: recordLine, content: .failure(.unterminatedValue)))
      }
    }
  }

  /// Inspects the first bytes; returns `false` to leave the byte to the form that it decided on.
  private mutating func detect(_ byte: UInt8) -> Bool {
    if isAtStart {
      if byte == Self.byteOrderMark[markBytes] {
        markBytes += 1
        isAtStart = markBytes < Self.byteOrderMark.count
        return true
      }
      isAtStart = false
      if markBytes > 0 {
        // Not a byte order mark after all: the bytes belong to the record.
        form = .lines
        recordLine = line
        keep(Self.byteOrderMark.prefix(markBytes))
        return false
      }
    }
    switch byte {
    case UInt8(ascii: "\n"):
      line += 1
      return true
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): return true
    case UInt8(ascii: "["):
      form = .array
      return true
    default:
      form = layout == .lines ? .lines : .objects
      recordLine = line
      return false
    }
  }

  private mutating func takeArrayByte(_ byte: UInt8, _ emit: (RawRecord) throws -> Void) rethrows {
    if arrayState == .element {
      try takeElementByte(byte, emit)
      return
    }
    switch (byte, arrayState) {
    case (_, .lost), (UInt8(ascii: "\n"), _): break
    case (let byte, _) where Self.isWhiteSpace(byte): break
    case (UInt8(ascii: ","), .commaOrEnd): arrayState = .elementOnly
    case (UInt8(ascii: "]"), .commaOrEnd) where form == .array,
      (UInt8(ascii: "]"), .elementOrEnd) where form == .array:
      arrayState = .ended
    case (UInt8(ascii: "{"), .elementOrEnd), (UInt8(ascii: "{"), .elementOnly):
      arrayState = .element
      recordLine = line
      try takeElementByte(byte, emit)
    default:
      try emit(RawRecord(line: line, content: .failure(.strayText)))
      arrayState = .lost
    }
  }

  private mutating func takeElementByte(_ byte: UInt8, _ emit: (RawRecord) throws -> Void) rethrows
  {
    keep(CollectionOfOne(byte))
    if isInText {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInText = false
      }
      return
    }
    switch byte {
    case UInt8(ascii: "\""): isInText = true
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      depth -= 1
      if depth == 0 {
        try emitRecord(emit)
        arrayState = form == .array ? .commaOrEnd : .elementOrEnd
      }
    default: break
    }
  }

  private mutating func keep(_ bytes: some Collection<UInt8>) {
    if record.count + bytes.count <= recordLimitBytes {
      record.append(contentsOf: bytes)
    } else {
      isTooLong = true
    }
  }

  private mutating func emitRecord(_ emit: (RawRecord) throws -> Void) rethrows {
    defer {
      record.removeAll(keepingCapacity: true)
      isTooLong = false
    }
    if isTooLong {
      let error = RawRecordError.tooLong(limitBytes: recordLimitBytes)
      try emit(RawRecord(line: recordLine, content: .failure(error)))
    } else if record.contains(where: { !Self.isWhiteSpace($0) }) {
      try emit(RawRecord(line: recordLine, content: .success(record)))
    }
  }

  private static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
  }
}
