import Feed
import MediaFormats
import System

/// The file at a URL, fetched on demand.
struct RemoteFile {
  /// The fetched pieces.
  let file: PiecedFile
  /// The version that the server states.
  let version: MediaVersion?

  /// The number of bytes of the first request; most files have their tables there, or the sizes of them.
  static let firstBytes = 65_536
  private static let redirectionLimit = 5

  /// Requests the first bytes.
  ///
  /// - Throws: `RemoteError`, `SystemError`.
  init(_ text: String, _ curl: String, _ settings: ProbeSettings) throws {
    let deadline = MonotonicClock.milliseconds + UInt64(settings.timeMilliseconds)
    var client = try RangeClient(
      MediaURL(text), curl, settings, deadlineMilliseconds: deadline)
    var redirections = 0
    var answer = try client.ask(for: 0..<Self.firstBytes, ifRange: nil)
    while [301, 302, 303, 307, 308].contains(answer.status),
      let place = try answer.field("location")
    {
      redirections += 1
      guard redirections <= Self.redirectionLimit else {
        throw RemoteError.tooManyRedirections(Self.redirectionLimit)
      }
      let next = try client.url.resolving(place)
      if client.url.scheme == "https", next.scheme == "http" {
        throw RemoteError.insecureRedirection
      }
      client = try RangeClient(next, curl, settings, deadlineMilliseconds: deadline)
      answer = try client.ask(for: 0..<Self.firstBytes, ifRange: nil)
    }
    try Self.check(answer)
    let part = try Self.firstPart(answer)
    let size = part.size
    guard size <= RecordLimits.fileBytes else {
      throw RemoteError.badAnswer(
        "its Content-Range says \(size) bytes, more than the limit of \(RecordLimits.fileBytes)")
    }
    let entityTag = try answer.field("etag").flatMap { $0.hasPrefix("\"") ? $0 : nil }
    let modified = try answer.field("last-modified")
    let texts = [entityTag.map { "etag:\($0)" }, modified.map { "modified:\($0)" }]
    version = texts.lazy.compactMap { $0.flatMap(MediaVersion.init(text:)) }.first
    let source = client
    file = try PiecedFile(
      size: size, first: part.bytes, limitBytes: settings.remoteBytes,
      scratchFolder: settings.scratchFolder
    ) { range in
      try Self.piece(range, of: size, entityTag, modified, by: source)
    }
    // A size that is only stated is not proof.
    if size > Self.firstBytes { try file.fetch(size - 1..<size) }
  }

  /// Returns the bytes of the first response, and the size of the file.
  private static func firstPart(
    _ answer: RangeAnswer
  ) throws(RemoteError) -> (bytes: ArraySlice<UInt8>, size: Int) {
    switch answer.status {
    case 206:
      let (range, size) = try answer.contentRange()
      guard range == 0..<min(firstBytes, size), answer.body.count == range.count else {
        throw .badAnswer("it is not the requested range")
      }
      return (answer.body, size)
    case 200:
      // The whole file, which is accepted if it is no longer than the request.
      let size = try answer.field("content-length").flatMap { Int($0) } ?? answer.body.count
      guard size == answer.body.count, size <= firstBytes else { throw .ignoresRanges }
      return (answer.body, size)
    // An empty file has no ranges.
    case 416 where try answer.field("content-range") == "bytes */0": return ([], 0)
    default: throw .status(answer.status)
    }
  }

  private static func check(_ answer: RangeAnswer) throws(RemoteError) {
    if let coding = try answer.field("content-encoding"), coding.lowercased() != "identity" {
      throw .badAnswer("it has the Content-Encoding \(coding.prefix(40)), which was not requested")
    }
  }

  private static func piece(
    _ range: Range<Int>, of size: Int, _ entityTag: String?, _ modified: String?,
    by client: RangeClient
  ) throws -> ArraySlice<UInt8> {
    let answer = try client.ask(for: range, ifRange: entityTag)
    switch answer.status {
    case 206: break
    // The server supported ranges before: another version comes as a whole (RFC 9110 section 13.1.5).
    case 200, 412: throw RemoteError.changed
    case 416:
      throw RemoteError.badAnswer(
        "it stated \(size) bytes, but has none at \(range.lowerBound)-\(range.upperBound - 1)")
    default: throw RemoteError.status(answer.status)
    }
    try check(answer)
    let tag = try answer.field("etag")
    let isSame =
      try (entityTag == nil || tag == entityTag) && answer.field("last-modified") == modified
    let (part, newSize) = try answer.contentRange()
    guard isSame, newSize == size else { throw RemoteError.changed }
    guard part == range, answer.body.count == range.count else {
      throw RemoteError.badAnswer("it is not the requested range")
    }
    return answer.body
  }
}
