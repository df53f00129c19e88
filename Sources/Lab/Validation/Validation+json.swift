import JSON

/// A validation as `lab validate --json` writes it, and as a report takes it in.
extension Validation {
  /// An object: the margin, the sentence, and both figures of each strategy.
  public var json: [UInt8] {
    var writer = JSONWriter(capacity: 1_024)
    writer.object { writer in
      writer.key("margin")
      writer.raw(fixed(margin, 1).utf8)
      writer.member("sentence", sentence)
      writer.key("validation")
      writer.array { writer in
        for pair in pairs {
          writer.object { writer in
            writer.member("strategy", pair.name)
            for (name, number) in [
              ("measuredLoaders", pair.measuredLoaders),
              ("simulatedLoaders", pair.simulatedLoaders),
              ("measuredKilobytes", pair.measuredKilobytes),
              ("simulatedKilobytes", pair.simulatedKilobytes),
            ] {
              writer.key(text: name)
              writer.raw(fixed(number, 3).utf8)
            }
          }
        }
      }
    }
    return writer.bytes
  }

  /// What was written so.
  ///
  /// - Throws: `ValidationFileError`.
  public init(json: [UInt8]) throws(ValidationFileError) {
    let root: JSONValue
    do throws(JSONError) {
      root = try JSONDocument(json).root
    } catch {
      throw .json(error)
    }
    guard let list = root.member("validation"), list.kind == .array,
      let margin = root.member("margin")?.number
    else { throw .missing("validation") }
    var pairs: [Pair] = []
    for value in list.elements {
      func number(_ name: String) throws(ValidationFileError) -> Double {
        guard let number = value.member(name)?.number, (0...1e9).contains(number) else {
          throw .missing(name)
        }
        return number
      }
      guard let name = value.member("strategy")?.text, pairs.count < Self.pairLimit else {
        throw .missing("strategy")
      }
      pairs.append(
        Pair(
          name: name, measuredLoaders: try number("measuredLoaders"),
          simulatedLoaders: try number("simulatedLoaders"),
          measuredKilobytes: try number("measuredKilobytes"),
          simulatedKilobytes: try number("simulatedKilobytes")))
    }
    self.init(pairs, margin: margin)
  }

  private static let pairLimit = 1_000
}

/// Why a file is no validation.
public enum ValidationFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is no JSON.
  case json(JSONError)
  /// It lacks this member, or that cannot be such.
  case missing(String)

  /// For example `"validation" is missing or no such: lab validate --json writes it`.
  public var description: String {
    switch self {
    case .json(let error): "the file is not JSON: \(error)"
    case .missing(let name): "\"\(name)\" is missing or no such: lab validate --json writes it"
    }
  }
}
