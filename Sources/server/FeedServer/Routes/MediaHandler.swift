import Glibc
import HTTP
import HTTPServer
import Logging
import MediaFiles
import MediaFormats
import System

/// Answers with a media file, or ranges of it (RFC 9110 section 14). If the URL names a content, answers only
/// with that content.
struct MediaHandler: RouteHandler {
  let media: MediaFolder?
  let logger: Logger

  func answer(_ call: Call) throws {
    guard let media else { throw MediaError.notFound(.noSuchFile) }
    let path = call.segment("path")
    let segments = try PathSegments.split("/" + path)
    guard PathSegments.isPlainlySpelt(path) else { throw MediaError.notFound(.noSuchFile) }
    let query = try MediaQuery(call.parameters)
    let now = WallClock.now
    let secondsLeft = try media.signer?.secondsLeft(of: query, segments)
    guard case .folder(let root) = media.storage else {
      return try answerObject(call, segments, query, secondsLeft, from: media)
    }
    let file = try open(segments, in: media, root)
    @Sendable func answer(isImmutable: Bool) throws -> Response {
      let head = try file.read(at: 0, count: MediaType.headBytes)
      let type = MediaType(head: head, name: segments.last ?? "")
      let caching = media.caching(isImmutable: isImmutable, secondsLeft: secondsLeft)
      return try MediaAnswer(content: .file(file), type: type, caching: caching, now: now)
        .response(to: call.request)
    }
    guard let version = query.version else { return call.respond(try answer(isImmutable: false)) }
    try media.versions.whenKnown(file, segments) { found in
      call.answer {
        guard let found = try found.get(), found.content == version else { throw Self.otherVersion }
        return try answer(isImmutable: found.isCompared)
      }
    }
  }

  private static let otherVersion = Problem(
    .unknownMediaVersion, .notFound,
    "The file no longer has the content that this URL names: use the current URL in the item.")

  /// Answers with an object, or with a redirect to it.
  private func answerObject(
    _ call: Call, _ segments: [String], _ query: MediaQuery, _ secondsLeft: Int?,
    from media: MediaFolder
  ) throws {
    guard let objects = media.objects else { throw MediaError.notFound(.noSuchFile) }
    guard let version = query.version else {
      if let links = media.links {
        return call.respond(try redirect(call, segments, links, secondsLeft, media))
      }
      return try objects.find(segments) { found in
        call.answer { try response(call, found.get(), secondsLeft, from: media, objects) }
      }
    }
    try objects.find(segments) { found in
      do {
        let object = try found.get()
        // Asking the database takes longer than an event loop may wait.
        try objects.run {
          call.answer {
            guard try media.versions.content(of: object) == version else {
              throw Self.otherVersion
            }
            if let links = media.links {
              return try redirect(call, segments, links, secondsLeft, media)
            }
            return try response(call, object, secondsLeft, from: media, objects)
          }
        }
      } catch {
        call.answer { throw error }
      }
    }
  }

  private func response(
    _ call: Call, _ object: FoundObject, _ secondsLeft: Int?, from media: MediaFolder,
    _ objects: ObjectReader
  ) throws -> Response {
    guard (0...MediaFolder.maximumFileBytes).contains(object.status.bytes) else {
      throw MediaError.notFound(.tooLarge)
    }
    let head = Array(object.head.prefix(MediaType.headBytes))
    // Not immutable, as another program may replace the object: caches learn of that when they revalidate.
    return try MediaAnswer(
      content: .object(object, objects),
      type: MediaType(head: head, name: object.segments.last ?? ""),
      caching: media.caching(isImmutable: false, secondsLeft: secondsLeft), now: WallClock.now
    ).response(to: call.request)
  }

  /// 307 to the store's own URL, which is valid for longer than caches may keep the answer.
  private func redirect(
    _ call: Call, _ segments: [String], _ links: ObjectLinks, _ secondsLeft: Int?,
    _ media: MediaFolder
  ) throws -> Response {
    let expires = links.expiry
    let method = call.request.method == .head ? "HEAD" : "GET"
    guard let url = links.url(method, segments, expires: expires) else {
      throw MediaError.notFound(.noSuchFile)
    }
    let left = min(links.secondsLeft(of: expires) / 2, secondsLeft ?? .max)
    var fields: Fields = [
      "Location": url,
      "Cache-Control": media.caching(isImmutable: false, secondsLeft: left).value ?? "no-store",
      "Cross-Origin-Resource-Policy": "cross-origin",
    ]
    fields.appendCORS()
    return Response(.temporaryRedirect, fields: fields)
  }

  private func open(
    _ segments: [String], in media: MediaFolder, _ root: MediaRoot
  ) throws -> OpenFile {
    guard OpenFile.openCount < media.maximumOpenFiles else {
      throw MediaError.exhausted(
        SystemError(call: "openat", purpose: "open another media file", code: EMFILE))
    }
    do {
      let file = try root.open(segments)
      try MediaFolder.check(file)
      return file
    } catch MediaError.notFound(.tooLarge) {
      logger.warning("media file too large", metadata: ["path": "\(segments)"])
      throw MediaError.notFound(.tooLarge)
    } catch MediaError.denied(let cause) {
      // For the client the file does not exist; the log tells the operator why.
      logger.warning("media file not readable: \(cause)")
      throw MediaError.denied(cause)
    }
  }
}
