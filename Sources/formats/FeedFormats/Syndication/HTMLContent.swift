import Feed

/// A post as HTML that readers of feeds show: its text, and its files as they are shown or played. Nothing in
/// it runs, and its texts are text.
enum HTMLContent {
  /// Paragraphs of a text: empty lines part them.
  static func paragraphs(_ text: String) -> String {
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    return lines.split(whereSeparator: { $0.trimmed == nil })
      .map { "<p>" + $0.map { escaped(String($0)) }.joined(separator: "<br>") + "</p>" }
      .joined()
  }

  /// The text and the files of a post; nil where it has neither.
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

  /// Text in which nothing is markup, in elements as in attributes with quotation marks.
  private static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}
