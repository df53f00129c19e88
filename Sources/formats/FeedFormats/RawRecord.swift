/// A record's bytes as they stand in the input.
package struct RawRecord: Hashable, Sendable {
  /// The line on which the record begins, from 1.
  package let line: Int
  /// The bytes, or why there are none.
  package let content: Result<[UInt8], RawRecordError>

  /// A record that begins on this line.
  package init(line: Int, content: Result<[UInt8], RawRecordError>) {
    self.line = line
    self.content = content
  }

  /// Why there is none on this line.
  init(line: Int, problem: String) {
    self.init(line: line, content: .failure(.malformed(problem)))
  }
}

/// Why an input holds no whole record at a place.
package enum RawRecordError: Error, Hashable, Sendable {
  /// The record has more bytes than the limit.
  case tooLong(limitBytes: Int)
  /// The input ends within a JSON array.
  case unterminatedArray
  /// Something other than a comma, an element or the end stands in or behind the array.
  case strayText
  /// The input ends within a JSON object.
  case unterminatedValue
  /// The bytes are not of the format, or say nothing of which a post can be made: what is wrong, as a
  /// sentence without its end.
  case malformed(String)
}

extension RawRecordError: CustomStringConvertible {
  /// What is wrong, for the person whose file it is.
  package var description: String {
    switch self {
    case .tooLong(let limit): "the record has more than \(limit) bytes"
    case .unterminatedArray: "the input ends within the JSON array: it is incomplete"
    case .unterminatedValue: "the input ends within this JSON object: it is incomplete"
    case .malformed(let problem): problem
    case .strayText: "expected a record, a comma or the end of the JSON array"
    }
  }
}
