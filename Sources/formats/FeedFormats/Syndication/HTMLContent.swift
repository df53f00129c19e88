import Feed

/// A post as HTML for feed readers: its text, and its files as elements that show or play them. It contains
/// no scripts, and all texts are escaped.
enum HTMLContent {
  /// Returns the paragraphs of a text, separated by empty lines.
  static func paragraphs(_ text: String) -> String {
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    return lines.split(whereSeparator: { $0.trimmed == nil })
      .map { "<p>" + $0.map { escaped(String($0)) }.joined(separator: "<br>") + "</p>" }
      .joined()
  }

  /// Returns the text and the files of a post; nil if it has neither.
  static func html(_ item: SyndicationItem) -> String? {
    let post = item.post
    let html = (post.text.map(paragraphs) ?? "") + post.media.map(figure).joined()
    return html.isEmpty ? nil : html
  }

  private static func figure(_ file: Media) -> String {
    let size = attribute("width", file.width) + attribute("height", file.height)
    let source = attribute("src", file.url)
    switch file.kind {
    case .image: return "<figure><img\(source)\(attribute("alt", file.alt ?? ""))\(size)></figure>"
    case .video:
      let rest = attribute("poster", file.poster) + attribute("title", file.alt) + size
      return "<figure><video controls preload=\"none\"\(source)\(rest)></video></figure>"
    case .audio:
      return
        "<figure><audio controls preload=\"none\"\(source)\(attribute("title", file.alt))></audio></figure>"
    }
  }

  private static func attribute(_ name: String, _ value: String?) -> String {
    value.map { " \(name)=\"\(escaped($0))\"" } ?? ""
  }

  private static func attribute(_ name: String, _ value: Int?) -> String {
    attribute(name, value.map(String.init))
  }

  /// Escapes markup, for elements and for attributes in double quotation marks.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}
