/// The way from a document to one of its values.
public struct JSONPath: Hashable, Sendable {
  /// One step into a value.
  public enum Step: Hashable, Sendable {
    /// To the member of this name.
    case key(String)
    /// To the element at this place, from 0.
    case index(Int)
  }

  /// The characters of a name that are shown, whatever names a file has.
  public static let shownCharacters = 100

  /// From the outside to the inside; none is the document itself.
  public let steps: [Step]

  /// The way of these steps.
  public init(_ steps: [Step]) { self.steps = steps }

  /// One step further, to the member of this name.
  public func key(_ name: String) -> JSONPath { JSONPath(steps + [.key(name)]) }
}

extension JSONPath: CustomStringConvertible {
  /// `media[0].width`
  public var description: String {
    steps.reduce(into: "") { text, step in
      switch step {
      case .index(let index): text += "[\(index)]"
      case .key(let name):
        text += (text.isEmpty ? "" : ".") + name.excerpt(characters: Self.shownCharacters)
      }
    }
  }
}

extension String {
  /// The text, or where it has more characters, as Unicode has code points, that many of them and `…`:
  /// what a message quotes of a text without a limit.
  public func excerpt(characters limit: Int) -> String {
    guard let end = unicodeScalars.index(startIndex, offsetBy: limit, limitedBy: endIndex),
      end < endIndex
    else { return self }
    return String(unicodeScalars[..<end]) + "…"
  }
}
