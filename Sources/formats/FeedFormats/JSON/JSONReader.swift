import Feed
import JSON

/// Reads JSON values of other formats: an array, NDJSON, or a document over several lines. It holds
/// one whole value at a time.
struct JSONReader: RecordReader {
  /// Makes records from a value; the line numbers are those of the input.
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

/// Finds the line of a value. Queries in the order of the text read it only once.
struct JSONLines {
  private let bytes: [UInt8]
  private var position = 0
  private var line: Int

  /// Creates a counter for the bytes of a value that begins on this line.
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

/// Members by name and expected type. Other programs omit unknown values, write null, or use another type.
extension JSONValue {
  /// Returns the member with this name, unless it is null.
  func present(_ name: String) -> JSONValue? {
    member(name).flatMap { $0.kind == .null ? nil : $0 }
  }

  /// The string with this name, without surrounding white space.
  func text(_ name: String) -> String? { member(name)?.text?.trimmed }

  /// The string or whole number with this name: ids are either.
  func id(_ name: String) -> String? {
    guard let value = member(name) else { return nil }
    return value.text?.trimmed ?? value.wholeNumber.map { String($0) }
  }

  /// The number with this name, rounded.
  func number(_ name: String) -> Int? { Int(rounding: member(name)?.number) }

  /// Whether the member with this name is true.
  func isTrue(_ name: String) -> Bool { member(name)?.truth == true }

  /// The elements of the array with this name.
  func list(_ name: String) -> [JSONValue] { member(name).map { Array($0.elements) } ?? [] }
}
