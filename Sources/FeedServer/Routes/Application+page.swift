import HTTP
import HTTPServer
import JSON
import Page

// MARK: The page to look at

extension Application {
  /// The page, for browsers; for who asks for no HTML, or where there is no page, links to what there is.
  func root(_ call: Call) {
    let accepted = AcceptedTypes(call.request.fields.combined("Accept"))
    let wantsPage = hasPage && accepted.prefers("text/html", to: "application/json")
    var representation =
      wantsPage ? Representation(.page, caching: caching.files) : links(caching.files)
    representation.varyingFields = .types
    representation.links = .these([
      LinkField.Link(relation: "service-desc", target: Route.openAPI.path)
    ])
    encoding.answer(representation, to: call)
  }

  /// A file of the page.
  ///
  /// - Throws: `Problem` 404.
  func pageFile(_ name: String, _ call: Call) throws {
    if hasPage, name == LabReportFile.name, let labReport { return try answer(labReport, call) }
    guard hasPage, let file = PageFile.parts[name] else {
      throw Problem(.unknownRoute, .notFound, "There is no route \(call.request.path).")
    }
    encoding.answer(Representation(file, caching: caching.files), to: call)
  }

  /// The report as it is now: the file may be made anew at any time.
  private func answer(_ report: LabReportFile, _ call: Call) throws {
    let isTaken = workers.run(for: call) {
      call.attempt {
        let page = Representation(try report.read(), .report, caching: caching.files)
        encoding.answer(page, to: call)
      }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many requests wait for workers.")
    }
  }

  private func links(_ caching: CachePolicy.Directive) -> Representation {
    var writer = JSONWriter()
    writer.object { writer in
      writer.key("links")
      writer.object { writer in
        writer.member("feeds", Route.feeds.path)
        writer.member("networks", Route.networks.path)
        writer.member("description", Route.openAPI.path)
        writer.member("module", Route.clientModule.path)
        writer.member("health", Route.health.path)
        writer.member("readiness", Route.readiness.path)
        writer.member("metrics", Route.metrics.path)
        if hasPage, labReport != nil { writer.member("labReport", LabReportFile.path) }
      }
    }
    return Representation(writer.bytes, caching: caching)
  }
}

extension Representation {
  /// A file that the program carries.
  init(_ file: PageFile, caching: CachePolicy.Directive) {
    self.init(file.bytes, ContentType.of(file.kind), caching: caching)
  }
}

extension ContentType {
  fileprivate static func of(_ kind: PageFile.Kind) -> ContentType {
    switch kind {
    case .document: page
    case .script: script
    case .style: style
    case .picture: picture
    }
  }

  /// What the page may do: run its own scripts, show what it has loaded, ask its own server, and nothing else.
  /// With trusted types, no text becomes HTML.
  private static let page = ContentType(
    "text/html; charset=utf-8",
    policy: [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:",
      "media-src 'self' blob:", "connect-src 'self'", "frame-src 'self'",
      "base-uri 'none'", "form-action 'none'",
      "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; "))
  /// A report is somebody's file: it may look as it likes, and do nothing.
  fileprivate static let report = ContentType(
    "text/html; charset=utf-8",
    policy: [
      "default-src 'none'", "style-src 'unsafe-inline'", "img-src data:", "base-uri 'none'",
      "form-action 'none'", "frame-ancestors 'self'", "sandbox",
    ].joined(separator: "; "))
  private static let script = ContentType("text/javascript; charset=utf-8")
  private static let style = ContentType("text/css; charset=utf-8")
  private static let picture = ContentType("image/svg+xml")
}
