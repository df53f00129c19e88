import Glibc
import HTTP
import HTTPServer
import JSON
import Page
import System

/// Answers with the page for browsers; with links to the resources for clients that do not ask for HTML, or
/// if there is no page.
struct RootHandler: RouteHandler {
  let hasPage: Bool
  let hasLabReport: Bool
  let encoding: BodyEncoding
  let caching: CachePolicy.Directive

  func answer(_ call: Call) {
    let accepted = AcceptedTypes(call.request.fields.combined("Accept"))
    let wantsPage = hasPage && accepted.prefers("text/html", to: "application/json")
    var representation = wantsPage ? Representation(.page, caching: caching) : links
    representation.varyingFields = .types
    representation.links = .these([
      LinkField.Link(relation: "service-desc", target: Route.openAPI.path)
    ])
    encoding.answer(representation, to: call)
  }

  private var links: Representation {
    var writer = JSONWriter()
    writer.object { writer in
      writer.object("links") { writer in
        writer.member("feeds", Route.feeds.path)
        writer.member("networks", Route.networks.path)
        writer.member("description", Route.openAPI.path)
        writer.member("module", Route.clientModule.path)
        writer.member("health", Route.health.path)
        writer.member("readiness", Route.readiness.path)
        writer.member("metrics", Route.metrics.path)
        if hasPage, hasLabReport { writer.member("labReport", LabReportFile.path) }
      }
    }
    return Representation(writer.bytes, caching: caching)
  }
}

/// Answers with a file of the page.
struct PageFileHandler: RouteHandler {
  let hasPage: Bool
  let labReport: LabReportFile?
  let workers: RequestWorkers
  let encoding: BodyEncoding
  let caching: CachePolicy.Directive

  /// - Throws: `Problem` 404.
  func answer(_ call: Call) throws {
    let name = call.segment("file")
    if hasPage, name == LabReportFile.name, let labReport { return try answer(call, labReport) }
    guard hasPage, let file = PageFile.parts[name] else {
      throw Problem(.unknownRoute, .notFound, "There is no route \(call.request.path).")
    }
    encoding.answer(Representation(file, caching: caching), to: call)
  }

  /// Answers with the current report: the file may be replaced at any time.
  private func answer(_ call: Call, _ report: LabReportFile) throws {
    try workers.run(for: call, of: "workers") {
      call.attempt {
        encoding.answer(Representation(try report.read(), .report, caching: caching), to: call)
      }
    }
  }
}

/// The latest page of `lookahead lab report`, in the file of `--lab-report`.
struct LabReportFile: Sendable {
  /// Its name among the page's files.
  static let name = "lab-report.html"
  static let path = "/page/\(name)"
  /// The maximum size of a report.
  static let maximumBytes = 32 << 20

  let file: String

  /// The current content.
  ///
  /// - Throws: `Problem` 404 if there is no report, or none yet; `SystemError` if it cannot be read.
  func read() throws -> [UInt8] {
    let descriptor: Descriptor
    do throws(SystemError) {
      descriptor = try Descriptor(file, .withoutWaiting)
    } catch {
      guard error.code == ENOENT else { throw error }
      throw Self.none("There is no lab report yet.")
    }
    guard let file = OpenFile(descriptor) else {
      throw Self.none("The lab report is not a regular file.")
    }
    guard file.size <= Self.maximumBytes else { throw Self.none("The lab report is too large.") }
    return try file.read(at: 0, count: file.size)
  }

  private static func none(_ words: String) -> Problem {
    Problem(.unknownRoute, .notFound, words)
  }
}

extension Representation {
  /// A file that the program contains.
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
    case .report: report
    }
  }

  /// The permissions of the page: run its own scripts, show what it has loaded, ask its own server, and
  /// nothing else. With trusted types, no text becomes HTML.
  private static let page = ContentType(
    "text/html; charset=utf-8",
    policy: [
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' blob:",
      "media-src 'self' blob:", "connect-src 'self'", "frame-src 'self'",
      "base-uri 'none'", "form-action 'none'",
      "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'",
    ].joined(separator: "; "))
  /// The permissions of a report, which is a file of the operator: any style, and no actions.
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
