/// Why bytes are not the JSON text that they should be, and where.
public struct JSONError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Problem: Hashable, Sendable {
    /// The bytes are not UTF-8.
    case notUTF8
    /// U+FEFF stands first.
    case byteOrderMark
    /// The text ends within a value, or before one.
    case unexpectedEnd
    /// What stands there begins no value.
    case noValue
    /// What stands there is no name in quotation marks.
    case noKey
    /// No colon stands behind a name.
    case noColon
    /// Behind an element stands neither a comma nor the end of what it is in.
    case noCommaOrEnd(Character)
    /// The end of a list or object stands behind a comma.
    case trailingComma
    /// Something stands behind the value.
    case textBehindEnd
    /// `01`, `1.`, `.5`, `+1`, `1e`.
    case malformedNumber
    /// A control character stands in a text and not an escape.
    case controlCharacter
    /// A backslash begins nothing that JSON has.
    case unknownEscape
    /// Half of a surrogate pair: no character, and nothing that UTF-8 can hold.
    case loneSurrogate
    /// An object has the key twice; `path` names it.
    case duplicateKey
    /// Lists and objects stand in each other deeper than that.
    case tooDeep(limit: Int)
    /// The text has more bytes than that.
    case tooLong(limitBytes: Int)
  }

  /// What is wrong.
  public let problem: Problem
  /// The byte at which that was seen, from 0.
  public let byteOffset: Int
  /// The line of that byte, from 1.
  public let line: Int
  /// The character of the line that the byte begins, from 1.
  public let column: Int
  /// Where in the document that is: the value within which reading ended, or the key that is there twice.
  public let path: JSONPath
}

extension JSONError: CustomStringConvertible {
  /// `a comma or } belongs at column 9`; with the line where it is not the first.
  public var description: String {
    "\(words) at " + (line == 1 ? "column \(column)" : "line \(line), column \(column)")
  }

  private var words: String {
    switch problem {
    case .notUTF8: "invalid UTF-8"
    case .byteOrderMark: "unexpected byte order mark"
    case .unexpectedEnd: "unexpected end of the text"
    case .noValue: "expected a value"
    case .noKey: "expected a name in quotation marks"
    case .noColon: "expected a colon"
    case .noCommaOrEnd(let end): "expected a comma or \(end)"
    case .trailingComma: "trailing comma"
    case .textBehindEnd: "unexpected text after the value"
    case .malformedNumber: "malformed number"
    case .controlCharacter: "unescaped control character"
    case .unknownEscape: "unknown escape sequence"
    case .loneSurrogate: "unpaired surrogate"
    case .duplicateKey: "duplicate key"
    case .tooDeep(let limit): "more than \(limit) nested lists and objects"
    case .tooLong(let limitBytes): "more than \(limitBytes) bytes"
    }
  }
}
