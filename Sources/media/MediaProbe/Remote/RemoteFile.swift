import Feed
import MediaFormats
import System

/// The file that a URL names, of which only those pieces are fetched that somebody looks at. They are kept in
/// a file without a name, each in its place.
final class RemoteFile: ByteSource {
  /// The pieces that were fetched, each in its place.
  let scratch: ScratchFile
  let size: Int64
  /// What its server calls this version of it.
  let version: MediaVersion?
  private let client: RangeClient
  private let entityTag: String?
  private let modified: String?
  private let limitBytes: Int
  private var fetchedBytes = 0
  /// What is there: ascending, apart from each other.
  private var pieces: [Range<Int>] = []

  /// What is asked for first: most files' tables, and how large they are.
  static let firstBytes = 65_536
  private static let redirectionLimit = 5

  /// - Throws: `RemoteError`, `SystemError`.
  init(_ text: String, _ curl: String, _ settings: ProbeSettings) throws {
    limitBytes = settings.remoteBytes
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
    self.client = client
    try Self.check(answer)
    let part = try Self.firstPart(answer)
    guard part.size <= RecordLimits.fileBytes else {
      throw RemoteError.badAnswer(
        "its Content-Range says \(part.size) bytes, more than the limit of \(RecordLimits.fileBytes)"
      )
    }
    size = Int64(part.size)
    entityTag = try answer.field("etag").flatMap { $0.hasPrefix("\"") ? $0 : nil }
    modified = try answer.field("last-modified")
    let texts = [entityTag.map { "etag:\($0)" }, modified.map { "modified:\($0)" }]
    version = texts.lazy.compactMap { $0.flatMap(MediaVersion.init(text:)) }.first
    scratch = try ScratchFile(folder: settings.scratchFolder)
    try keep(part.bytes, at: 0)
    try proveSize()
  }

  /// Fetches the last byte: a size that an answer only names is no size.
  private func proveSize() throws {
    if size > Self.firstBytes { try fetch(Int(size) - 1..<Int(size)) }
  }

  /// What a first answer brings, and how large all of it is.
  private static func firstPart(
    _ answer: RangeAnswer
  ) throws(RemoteError) -> (bytes: ArraySlice<UInt8>, size: Int) {
    switch answer.status {
    case 206:
      let (range, size) = try answer.contentRange()
      guard range == 0..<min(firstBytes, size), answer.body.count == range.count else {
        throw .badAnswer("it is another range than was asked for")
      }
      return (answer.body, size)
    case 200:
      // All of it: which will do where that is no more than was asked for.
      let size = try answer.field("content-length").flatMap { Int($0) } ?? answer.body.count
      guard size == answer.body.count, size <= firstBytes else { throw .ignoresRanges }
      return (answer.body, size)
    // No range of a file without bytes can be had.
    case 416 where try answer.field("content-range") == "bytes */0": return ([], 0)
    default: throw .status(answer.status)
    }
  }

  private static func check(_ answer: RangeAnswer) throws(RemoteError) {
    if let coding = try answer.field("content-encoding"), coding.lowercased() != "identity" {
      throw .badAnswer("it has the Content-Encoding \(coding.prefix(40)), which nobody asked for")
    }
  }

  func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    let end = min(size, offset + Int64(count))
    guard offset < end else { return [] }
    let range = Int(offset)..<Int(end)
    try fetch(range)
    return try scratch.read([range]) ?? []
  }

  /// Fetches what is missing of a range.
  func fetch(_ range: Range<Int>) throws {
    var start = range.lowerBound
    for piece in pieces where piece.overlaps(range) {
      if start < piece.lowerBound { try fetchMissing(start..<piece.lowerBound) }
      start = max(start, piece.upperBound)
    }
    if start < range.upperBound { try fetchMissing(start..<range.upperBound) }
  }

  private func fetchMissing(_ range: Range<Int>) throws {
    // The last byte, by which the size is proved, is none of those.
    guard range.count <= limitBytes + 1 - fetchedBytes else {
      throw RemoteError.tooMuchToRead(limitBytes: limitBytes)
    }
    let answer = try client.ask(for: range, ifRange: entityTag)
    switch answer.status {
    case 206: break
    // It had ranges before: another version is sent as a whole (RFC 9110 section 13.1.5).
    case 200, 412: throw RemoteError.changed
    case 416:
      throw RemoteError.badAnswer(
        "it named \(size) bytes, and has none at \(range.lowerBound)-\(range.upperBound - 1)")
    default: throw RemoteError.status(answer.status)
    }
    try Self.check(answer)
    let tag = try answer.field("etag")
    let isSame =
      try (entityTag == nil || tag == entityTag) && answer.field("last-modified") == modified
    let (part, newSize) = try answer.contentRange()
    guard isSame, newSize == Int(size) else { throw RemoteError.changed }
    guard part == range, answer.body.count == range.count else {
      throw RemoteError.badAnswer("it is another range than was asked for")
    }
    try keep(answer.body, at: range.lowerBound)
  }

  private func keep(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SystemError) {
    guard !bytes.isEmpty else { return }
    try scratch.write(Array(bytes), at: offset)
    fetchedBytes += bytes.count
    var merged = offset..<offset + bytes.count
    var others: [Range<Int>] = []
    for piece in pieces {
      if piece.upperBound < merged.lowerBound || piece.lowerBound > merged.upperBound {
        others.append(piece)
      } else {
        merged = min(piece.lowerBound, merged.lowerBound)..<max(piece.upperBound, merged.upperBound)
      }
    }
    pieces = (others + [merged]).sorted { $0.lowerBound < $1.lowerBound }
  }
}
