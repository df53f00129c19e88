/// An error in a JSON text, with its place.
public struct JSONError: Error, Hashable, Sendable {
  /// What is wrong.
  public enum Problem: Hashable, Sendable {
    /// The bytes are not UTF-8.
    case notUTF8
    /// The text begins with U+FEFF.
    case byteOrderMark
    /// The text ends within a value, or before one.
    case unexpectedEnd
    /// A character that does not begin a value.
    case noValue
    /// Something other than a name in quotation marks.
    case noKey
    /// A name without a colon after it.
    case noColon
    /// An element that is followed neither by a comma nor by the end of its list or object.
    case noCommaOrEnd(Character)
    /// A comma before the end of a list or object.
    case trailingComma
    /// Text after the value.
    case textBehindEnd
    /// `01`, `1.`, `.5`, `+1`, `1e`.
    case malformedNumber
    /// An unescaped control character in a text.
    case controlCharacter
    /// A backslash that does not begin an escape of JSON.
    case unknownEscape
    /// Half of a surrogate pair, which is not a character and has no form in UTF-8.
    case loneSurrogate
    /// A key that the object already has; `path` names it.
    case duplicateKey
    /// Lists and objects that are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// A text that is longer than the limit.
    case tooLong(limitBytes: Int)
  }

  /// What is wrong.
  public let problem: Problem
  /// The offset of the byte at which the error was found, from 0.
  public let byteOffset: Int
  /// The line of that byte, from 1.
  public let line: Int
  /// The column of that byte in characters, from 1.
  public let column: Int
  /// The path of the error: that of the value in which reading stopped, or of the duplicate key.
  public let path: JSONPath
}

extension JSONError: CustomStringConvertible {
  /// For example `expected a comma or } at column 9`, with the line if that is not the first.
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
