import CEmbedded

/// A file that the program contains: of the page for browsers, or the client library for browsers.
package struct PageFile: Sendable {
  /// The type of a file.
  package enum Kind: Sendable {
    /// The page itself, HTML.
    case document
    /// A module of JavaScript.
    case script
    /// A style sheet.
    case style
    /// An image, SVG.
    case picture
    /// A report of the lab, HTML.
    case report
  }

  /// The type of the file.
  package let kind: Kind
  /// The content of the file.
  package let bytes: [UInt8]

  /// The page itself, an HTML document. It refers to its files by relative paths: `page/…` and
  /// `lookahead.js`.
  package static let page = PageFile(.document, "page/index.html")

  /// The client library: a JavaScript module without dependencies (docs/client.md).
  package static let module = PageFile(.script, "lookahead.js")

  /// The page's own files, by their names.
  package static let parts: [String: PageFile] = [
    "page.css": PageFile(.style, "page/page.css"),
    "icon.svg": PageFile(.picture, "page/icon.svg"),
    "desk.css": PageFile(.style, "page/desk.css"),
    "desk-client.js": PageFile(.script, "page/desk-client.js"),
    "desk-conflict.js": PageFile(.script, "page/desk-conflict.js"),
    "desk-files.js": PageFile(.script, "page/desk-files.js"),
    "desk-list.js": PageFile(.script, "page/desk-list.js"),
    "desk-post.js": PageFile(.script, "page/desk-post.js"),
    "desk-preview.js": PageFile(.script, "page/desk-preview.js"),
    "desk-view.js": PageFile(.script, "page/desk-view.js"),
    "dom.js": PageFile(.script, "page/dom.js"),
    "feed-choice.js": PageFile(.script, "page/feed-choice.js"),
    "feed-view.js": PageFile(.script, "page/feed-view.js"),
    "frame.js": PageFile(.script, "page/frame.js"),
    "inspector.js": PageFile(.script, "page/inspector.js"),
    "lab-story.js": PageFile(.script, "page/lab-story.js"),
    "lab-view.js": PageFile(.script, "page/lab-view.js"),
    "lane.js": PageFile(.script, "page/lane.js"),
    "live-view.js": PageFile(.script, "page/live-view.js"),
    "link.js": PageFile(.script, "page/link.js"),
    "metrics.js": PageFile(.script, "page/metrics.js"),
    "page.js": PageFile(.script, "page/page.js"),
    "sample-report.html": PageFile(.report, "page/sample-report.html"),
    "server-view.js": PageFile(.script, "page/server-view.js"),
    "slide.js": PageFile(.script, "page/slide.js"),
    "tabs.js": PageFile(.script, "page/tabs.js"),
    "thumbhash.js": PageFile(.script, "page/thumbhash.js"),
  ]

  /// - Parameter name: the file's name in CEmbedded.c.
  private init(_ kind: Kind, _ name: String) {
    guard let file = embedded_file(name)?.pointee else {
      preconditionFailure("\(name) is not in CEmbedded.c")
    }
    self.kind = kind
    bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.count))
  }
}
