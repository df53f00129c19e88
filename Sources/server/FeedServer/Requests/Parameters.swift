import HTTP

/// A parameter that cannot be taken as it is, and why.
struct ParameterError: Error, Hashable, CustomStringConvertible {
  let parameter: String
  let problem: String

  var description: String { "The parameter \(parameter) \(problem)." }
}

/// The parameters of a query: each known, there once at the most, and not empty. Nothing is silently
/// passed over.
struct Parameters {
  /// A few: looked through faster than hashed.
  private let values: [Query.Parameter]

  /// - Parameter known: the names that the route has.
  /// - Throws: `ParameterError`, `Query.Malformed`.
  init(_ request: borrowing Request, known: [String]) throws {
    values = try request.queryBytes.map { try Query.parse($0) } ?? []
    for (index, parameter) in values.enumerated() {
      let name = parameter.name
      guard known.contains(where: parameter.isNamed) else {
        let names = known.isEmpty ? "none" : known.joined(separator: ", ")
        throw ParameterError(
          parameter: String(name.prefix(100)), problem: "is unknown; the route has \(names)")
      }
      // Unknown ones end the loop: there are no more to compare than the route has, and one.
      guard !values[..<index].contains(where: { $0.isNamed(name) }) else {
        throw ParameterError(parameter: name, problem: "is there more than once")
      }
      guard !parameter.value.isEmpty else {
        throw ParameterError(parameter: name, problem: "is empty")
      }
    }
  }

  subscript(name: String) -> String? {
    for index in values.indices where values[index].isNamed(name) { return values[index].value }
    return nil
  }

  /// A whole number, in decimal digits without sign or leading zeros.
  func number(_ name: String, in range: ClosedRange<Int>) throws(ParameterError) -> Int? {
    guard let text = self[name] else { return nil }
    guard let number = Int(digits: text) else {
      throw ParameterError(
        parameter: name, problem: "is not a whole number: \"\(text.prefix(40))\"")
    }
    guard range.contains(number) else {
      throw ParameterError(
        parameter: name,
        problem: "is \(number), which is not in \(range.lowerBound)…\(range.upperBound)")
    }
    return number
  }

  /// `true` or `on` or `1`, or their opposites.
  func boolean(_ name: String) throws(ParameterError) -> Bool? {
    switch self[name] {
    case nil: return nil
    case "true", "on", "1": return true
    case "false", "off", "0": return false
    case let text?:
      throw ParameterError(
        parameter: name, problem: "is neither true nor false: \"\(text.prefix(40))\"")
    }
  }
}

extension Query.Parameter {
  /// Whether it is called that. Mostly it is not, and has another length.
  fileprivate func isNamed(_ name: String) -> Bool {
    self.name.utf8.count == name.utf8.count && self.name == name
  }
}

extension Int {
  /// The number that the decimal digits write in the only way to write it.
  init?(digits text: some StringProtocol) {
    guard text.utf8.allSatisfy({ (48...57).contains($0) }),
      text.utf8.count == 1 || text.utf8.first != 48, let number = Int(text)
    else { return nil }
    self = number
  }
}
