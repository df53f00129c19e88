/// The query of a target as HTML forms and URLSearchParams write it.
public enum Query {
  /// One name and its value, decoded.
  public struct Parameter: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value; empty if there is no `=`.
    public let value: String

    /// A parameter.
    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A parameter that cannot be decoded.
  public struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// The parameter's name: decoded if possible, otherwise as it was sent.
    public let parameter: String
    /// What is wrong with its name or value.
    public let cause: PercentEncodingError

    /// What is wrong, as a sentence.
    public var description: String { "The parameter \(parameter) holds \(cause)." }
  }

  /// The parameters in order, repeated ones too; `+` is a space; pieces between two `&` with
  /// nothing in them are left out.
  public static func parse(_ raw: some StringProtocol) throws(Malformed) -> [Parameter] {
    var parameters: [Parameter] = []
    for piece in raw.utf8.split(separator: UInt8(ascii: "&")) {
      let equals = piece.firstIndex(of: UInt8(ascii: "="))
      let rawName = piece[..<(equals ?? piece.endIndex)]
      let rawValue = equals.map { piece[piece.index(after: $0)...] }
      let name: String
      do throws(PercentEncodingError) {
        name = try PercentEncoding.decode(rawName, plusIsSpace: true)
      } catch {
        throw Malformed(parameter: String(decoding: rawName, as: UTF8.self), cause: error)
      }
      do throws(PercentEncodingError) {
        let value = try rawValue.map { value throws(PercentEncodingError) in
          try PercentEncoding.decode(value, plusIsSpace: true)
        }
        parameters.append(Parameter(name: name, value: value ?? ""))
      } catch {
        throw Malformed(parameter: name, cause: error)
      }
    }
    return parameters
  }
}
