/// Cuts an input into JSON values: lines (NDJSON), or the elements of one JSON array; or, for documents of
/// others, objects wherever they begin and end.
///
/// Fed with bytes as they come; holds one unfinished record and no more. Which of the two it is, the
/// first byte that is not white space tells. It finds where an element ends, by brackets and quotes;
/// whether the element is JSON is for the decoder to say.
package struct RecordSplitter: RecordReader {
  /// A record may have this many bytes.
  package let recordLimitBytes: Int

  /// What stands in an input that is not an array.
  package enum Layout: Sendable {
    /// A value on each line.
    case lines
    /// Objects, one behind the other, each over as many lines as it likes.
    case objects
  }

  private enum Form { case unknown, lines, array, objects }

  /// What may come next in an array.
  private enum ArrayState {
    case elementOrEnd, element, commaOrEnd, elementOnly, ended
    /// Something stray was reported: what follows has lost its place and is passed over.
    case lost
  }

  private let layout: Layout
  private var form = Form.unknown
  private var line = 1
  private var record: [UInt8] = []
  private var recordLine = 1
  private var isTooLong = false

  /// U+FEFF in UTF-8, which some programs put first.
  private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
  private var isAtStart = true
  private var markBytes = 0

  private var arrayState = ArrayState.elementOrEnd
  private var depth = 0
  private var isInText = false
  private var isEscaped = false

  /// A splitter of one input.
  package init(recordLimitBytes: Int, layout: Layout = .lines) {
    self.recordLimitBytes = recordLimitBytes
    self.layout = layout
  }

  /// Nothing: these are our own records.
  package var omissions: Omissions { Omissions() }

  /// Takes further bytes and hands out the records that they complete.
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

  /// Hands out what is left at the end of the input.
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

  /// Looks at the first bytes; `false` leaves the byte to the form that it decided on.
  private mutating func detect(_ byte: UInt8) -> Bool {
    if isAtStart {
      if byte == Self.byteOrderMark[markBytes] {
        markBytes += 1
        isAtStart = markBytes < Self.byteOrderMark.count
        return true
      }
      isAtStart = false
      if markBytes > 0 {
        // No mark after all: what was taken for one is the record's.
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
