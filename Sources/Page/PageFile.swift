/// A file that the program carries: of the page to look at, or the client library for browsers.
public struct PageFile: Sendable {
  /// What a file is.
  public enum Kind: Sendable {
    /// The page itself, HTML.
    case document
    /// A module of JavaScript.
    case script
    /// A style sheet.
    case style
    /// A picture, SVG.
    case picture
  }

  /// What it is.
  public let kind: Kind
  /// What is in it.
  public let bytes: [UInt8]

  /// The page itself, an HTML document. It names its files by paths relative to itself: `page/…` and
  /// `lookahead.js`.
  public static let page = PageFile(.document, PackageResources.index_html)

  /// The client library: a JavaScript module without dependencies (docs/client.md).
  public static let module = PageFile(.script, PackageResources.lookahead_js)

  /// The page's own files, by their names.
  public static let parts: [String: PageFile] = [
    "page.css": PageFile(.style, PackageResources.page_css),
    "icon.svg": PageFile(.picture, PackageResources.icon_svg),
    "dom.js": PageFile(.script, PackageResources.dom_js),
    "editor.js": PageFile(.script, PackageResources.editor_js),
    "feed-choice.js": PageFile(.script, PackageResources.feed_choice_js),
    "feed-view.js": PageFile(.script, PackageResources.feed_view_js),
    "frame.js": PageFile(.script, PackageResources.frame_js),
    "inspector.js": PageFile(.script, PackageResources.inspector_js),
    "lab-view.js": PageFile(.script, PackageResources.lab_view_js),
    "lane.js": PageFile(.script, PackageResources.lane_js),
    "link.js": PageFile(.script, PackageResources.link_js),
    "metrics.js": PageFile(.script, PackageResources.metrics_js),
    "page.js": PageFile(.script, PackageResources.page_js),
    "server-view.js": PageFile(.script, PackageResources.server_view_js),
    "slide.js": PageFile(.script, PackageResources.slide_js),
    "tabs.js": PageFile(.script, PackageResources.tabs_js),
    "thumbhash.js": PageFile(.script, PackageResources.thumbhash_js),
  ]

  private init(_ kind: Kind, _ bytes: [UInt8]) {
    (self.kind, self.bytes) = (kind, bytes)
  }
}
