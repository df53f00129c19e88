import Feed
import JSON

/// Reads an input of JSON values of others: an array, NDJSON, or a document over many lines. A value is
/// held as a whole, and no more than one.
struct JSONReader: RecordReader {
  /// What makes records of a value; the lines are those of the input.
  typealias Translate = @Sendable (JSONValue, inout JSONLines, inout Translation) -> Void

  private var splitter: RecordSplitter
  private var translation: Translation
  private let translate: Translate

  init(_ settings: FormatSettings, _ translate: @escaping Translate) {
    splitter = RecordSplitter(recordLimitBytes: settings.documentLimitBytes, layout: .objects)
    translation = Translation(settings)
    self.translate = translate
  }

  var omissions: Omissions { translation.omissions }

  mutating func feed(_ bytes: [UInt8], _ emit: (RawRecord) throws -> Void) rethrows {
    var values: [RawRecord] = []
    splitter.feed(bytes) { values.append($0) }
    for value in values { try take(value, emit) }
  }

  mutating func finish(_ emit: (RawRecord) throws -> Void) rethrows {
    var values: [RawRecord] = []
    splitter.finish { values.append($0) }
    for value in values { try take(value, emit) }
  }

  private mutating func take(_ value: RawRecord, _ emit: (RawRecord) throws -> Void) rethrows {
    switch value.content {
    case .failure(.strayText):
      try emit(RawRecord(line: value.line, problem: "expected a JSON object"))
    case .failure: try emit(value)
    case .success(let bytes):
      do throws(JSONError) {
        let document = try JSONDocument(bytes, depthLimit: RecordLimits.depth)
        var lines = JSONLines(bytes: bytes, line: value.line)
        translate(document.root, &lines, &translation)
      } catch {
        translation.refuse("is not JSON: \(error)", line: value.line + error.line - 1)
      }
      try translation.flush(emit)
    }
  }
}

/// Tells on which line a value stands; asked in the order of the text, it reads that once.
struct JSONLines {
  private let bytes: [UInt8]
  private var position = 0
  private var line: Int

  /// The bytes of a value that begins on this line.
  init(bytes: [UInt8], line: Int) {
    self.bytes = bytes
    self.line = line
  }

  /// The line of a value, from 1.
  mutating func line(of value: JSONValue) -> Int {
    let start = value.byteRange.lowerBound
    if start > position {
      line += bytes[position..<start].count { $0 == UInt8(ascii: "\n") }
      position = start
    }
    return line
  }
}

/// What is there of the right kind: others leave out what they do not know, write null, or something else.
extension JSONValue {
  /// The member of this name, unless it is null.
  func present(_ name: String) -> JSONValue? {
    member(name).flatMap { $0.kind == .null ? nil : $0 }
  }

  /// The text of this name, without white space around it.
  func text(_ name: String) -> String? { member(name)?.text?.trimmed }

  /// The text or whole number of this name: ids are both.
  func id(_ name: String) -> String? {
    guard let value = member(name) else { return nil }
    return value.text?.trimmed ?? value.wholeNumber.map { String($0) }
  }

  /// The number of this name, rounded.
  func number(_ name: String) -> Int? { Int(rounding: member(name)?.number) }

  /// Whether the member of this name is true.
  func isTrue(_ name: String) -> Bool { member(name)?.truth == true }

  /// The elements of the list of this name.
  func list(_ name: String) -> [JSONValue] { member(name).map { Array($0.elements) } ?? [] }
}
