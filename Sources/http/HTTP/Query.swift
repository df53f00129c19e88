/// The query of a target, in the format of HTML forms and URLSearchParams.
public enum Query {
  /// A name and its value, decoded.
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
    public var description: String { "The parameter \(parameter) contains \(cause)." }
  }

  /// Parses the parameters, in order and with repeated ones; `+` is a space. Empty pieces between two `&` are
  /// left out.
  public static func parse(_ raw: ArraySlice<UInt8>) throws(Malformed) -> [Parameter] {
    var parameters: [Parameter] = []
    parameters.reserveCapacity(4)
    var start = raw.startIndex
    while start < raw.endIndex {
      let end = raw[start...].firstIndex(of: UInt8(ascii: "&")) ?? raw.endIndex
      if start < end { parameters.append(try parameter(raw[start..<end])) }
      start = end + 1
    }
    return parameters
  }

  /// Parses the parameters of a query in text form.
  public static func parse(_ raw: some StringProtocol) throws(Malformed) -> [Parameter] {
    try parse(Array(raw.utf8)[...])
  }

  private static func parameter(_ piece: ArraySlice<UInt8>) throws(Malformed) -> Parameter {
    let equals = piece.firstIndex(of: UInt8(ascii: "="))
    let rawName = piece[..<(equals ?? piece.endIndex)]
    let name: String
    do throws(PercentEncodingError) {
      name = try PercentEncoding.decode(rawName, plusIsSpace: true)
    } catch {
      throw Malformed(parameter: String(decoding: rawName, as: UTF8.self), cause: error)
    }
    guard let equals else { return Parameter(name: name, value: "") }
    do throws(PercentEncodingError) {
      let value = try PercentEncoding.decode(piece[(equals + 1)...], plusIsSpace: true)
      return Parameter(name: name, value: value)
    } catch {
      throw Malformed(parameter: name, cause: error)
    }
  }
}
