/// The hosts that a setting allows: one, all below a name (`*.example.org`), or all (`*`).
public struct HostPattern: Sendable, Hashable {
  /// In lower case.
  private let text: String

  /// The hosts that are written so; nil where nothing is.
  public init?(_ text: String) {
    let bare = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
    guard text == "*" || MediaURL.isHost(bare.lowercased()) else { return nil }
    self.text = text.lowercased()
  }

  /// Whether it is one of them.
  ///
  /// - Parameter host: in lower case.
  func allows(_ host: String) -> Bool {
    if text == "*" { return true }
    return text.hasPrefix("*.") ? host.hasSuffix(text.dropFirst()) : host == text
  }
}
