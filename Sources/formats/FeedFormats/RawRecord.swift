/// The bytes of a record: as in the input, or translated from another format.
package struct RawRecord: Hashable, Sendable {
  /// The line on which the record begins, from 1.
  package let line: Int
  /// The bytes, or the error.
  package let content: Result<[UInt8], RawRecordError>

  /// Creates a record that begins on this line.
  package init(line: Int, content: Result<[UInt8], RawRecordError>) {
    self.line = line
    self.content = content
  }

  /// Creates the error of a record on this line.
  init(line: Int, problem: String) {
    self.init(line: line, content: .failure(.malformed(problem)))
  }
}

/// The reason why the input contains no whole record at a position.
package enum RawRecordError: Error, Hashable, Sendable {
  /// The record has more bytes than the limit.
  case tooLong(limitBytes: Int)
  /// The input ends within a JSON array.
  case unterminatedArray
  /// The array contains, or is followed by, something other than a comma, an element or the end.
  case strayText
  /// The input ends within a JSON object.
  case unterminatedValue
  /// The bytes are not in the input's format, or contain nothing from which a post can be made. The value
  /// says what is wrong, as a sentence without a full stop.
  case malformed(String)
}

extension RawRecordError: CustomStringConvertible {
  /// The error, for the owner of the file.
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
