import Glibc
import HTTP
import HTTPServer
import Logging
import MediaFiles
import MediaFormats
import System

/// Answers with a media file, or ranges of it (RFC 9110 section 14); where the URL names its content, that or
/// nothing.
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
    let file = try open(segments, in: media)
    @Sendable func answer(isImmutable: Bool) throws -> Response {
      let head = try file.read(at: 0, count: MediaType.headBytes)
      let type = MediaType(head: head, name: segments.last ?? "")
      let caching = media.caching(isImmutable: isImmutable, secondsLeft: secondsLeft)
      return try MediaAnswer(file: file, type: type, caching: caching, now: now)
        .response(to: call.request)
    }
    guard let version = query.version else { return call.respond(try answer(isImmutable: false)) }
    try media.versions.whenKnown(file, segments) { found in
      call.answer {
        guard let found = try found.get(), found.content == version else {
          throw Problem(
            .unknownMediaVersion, .notFound,
            "The file has another content than this URL names: take the one that the item has now.")
        }
        return try answer(isImmutable: found.isCompared)
      }
    }
  }

  private func open(_ segments: [String], in media: MediaFolder) throws -> OpenFile {
    guard OpenFile.openCount < media.maximumOpenFiles else {
      throw MediaError.exhausted(
        SystemError(call: "openat", purpose: "open one media file more", code: EMFILE))
    }
    do {
      let file = try media.root.open(segments)
      try MediaFolder.check(file)
      return file
    } catch MediaError.notFound(.tooLarge) {
      logger.warning("media file too large", metadata: ["path": "\(segments)"])
      throw MediaError.notFound(.tooLarge)
    } catch MediaError.denied(let cause) {
      // To the client it is not there; the operator has to hear why.
      logger.warning("media file not readable: \(cause)")
      throw MediaError.denied(cause)
    }
  }
}
