/// The path from a document to one of its values.
public struct JSONPath: Hashable, Sendable {
  /// One step into a value.
  public enum Step: Hashable, Sendable {
    /// To the member with this name.
    case key(String)
    /// To the element at this index, from 0.
    case index(Int)
  }

  /// The maximum number of characters of a name that a description shows.
  public static let shownCharacters = 100

  /// The steps from the outermost to the innermost; empty for the document itself.
  public let steps: [Step]

  /// A path of these steps.
  public init(_ steps: [Step]) { self.steps = steps }

  /// The path to the member with this name.
  public func key(_ name: String) -> JSONPath { JSONPath(steps + [.key(name)]) }
}

extension JSONPath: CustomStringConvertible {
  /// For example `media[0].width`.
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
  /// The text, or its first `limit` Unicode scalars and `…` if it is longer: for messages that quote text of
  /// unlimited length.
  public func excerpt(characters limit: Int) -> String {
    guard let end = unicodeScalars.index(startIndex, offsetBy: limit, limitedBy: endIndex),
      end < endIndex
    else { return self }
    return String(unicodeScalars[..<end]) + "…"
  }
}
