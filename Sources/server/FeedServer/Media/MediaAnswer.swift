import HTTP
import HTTPServer
import MediaFiles
import MediaFormats
import System

// `MediaRoot` opens a path segment by segment, never through a link, and returns the open file: what is
// checked is what is sent, whatever is renamed or replaced meanwhile. `MediaFormats.MediaType` looks at the
// first bytes. `MediaAnswer` evaluates preconditions and ranges (both pure, in `HTTP`). A URL that names a
// content (`ContentAddress`) is answered if `MediaVersions` says that the open file has it: from memory on
// the loop, else from the index or by reading the file, on a thread of its own. `ObjectReader` finds objects
// of a bucket, and they are answered in the same way: bytes that are not at hand are fetched piece by piece
// (`PieceSource`). `MediaSigner` signs URLs and verifies signatures.
//
// `MediaLinks` gives the URLs of files when items are encoded. Signed URLs depend on the second at which they
// expire, which is the same for all URLs handed out within a step. This second is a part of `PageKey` and of
// `RequestText`, and the item file holds items of one such second at a time. So nothing cached outlives its
// step, and the end of a step needs no notification.

/// The validators that tell one state of a file from another.
struct FileValidator {
  private let bytes: Int
  private let modified: Moment
  private let now: Moment

  /// The entity tag of the object store, which alone identifies each version.
  private let storedTag: String?

  init(_ file: OpenFile, now: Moment) {
    (bytes, modified, storedTag, self.now) = (file.size, file.modified, nil, now)
  }

  init(_ status: MediaStatus, now: Moment) {
    (bytes, modified, self.now) = (status.bytes, status.modified, now)
    storedTag = status.entityTag.flatMap(Self.opaque)
  }

  /// The text between the quotation marks of a strong tag (RFC 9110 section 8.8.3); `nil` for any other tag.
  private static func opaque(_ tag: String) -> String? {
    let bytes = tag.utf8
    guard bytes.count >= 3, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
      bytes.dropFirst().dropLast().allSatisfy({
        $0 == 0x21 || (0x23...0x7e).contains($0)
      })
    else { return nil }
    return String(Substring(bytes.dropFirst().dropLast()))
  }

  /// Made from size and modification time, as a tag of the bytes needs to read them all first; for an object,
  /// the store's.
  var entityTag: EntityTag {
    if let storedTag { return EntityTag(storedTag, isWeak: false) }
    let parts = [modified.secondsSince1970, modified.nanoseconds, bytes]
    let text = parts.map { String($0, radix: 36) }.joined(separator: "-")
    return EntityTag(text, isWeak: !hasSettled)
  }

  /// `nil` while the file may change again within the same second, if its time is in the future (RFC 9110
  /// sections 8.8.2.1 and 8.8.2.2), and if no HTTP date can represent it.
  var modifiedSeconds: Int? {
    let seconds = modified.secondsSince1970
    return hasSettled && HTTPDate.secondsSince1970.contains(seconds) ? seconds : nil
  }

  private var hasSettled: Bool {
    now.isAtLeast(seconds: MediaFolder.settlingSeconds, after: modified)
  }
}

/// The source of an answer's bytes.
enum MediaContent: Sendable {
  case file(OpenFile)
  case object(FoundObject, ObjectReader)

  var size: Int {
    switch self {
    case .file(let file): file.size
    case .object(let object, _): object.status.bytes
    }
  }

  fileprivate func validator(now: Moment) -> FileValidator {
    switch self {
    case .file(let file): FileValidator(file, now: now)
    case .object(let object, _): FileValidator(object.status, now: now)
    }
  }

  fileprivate func parts(_ range: Range<Int>) -> [Response.Part] {
    switch self {
    case .file(let file): [.file(file, range)]
    case .object(let object, let reader): reader.parts(range, of: object)
    }
  }
}

/// The answer with a media file.
struct MediaAnswer {
  let content: MediaContent
  let type: MediaType
  let caching: CachePolicy.Directive
  let now: Moment

  private var validator: FileValidator { content.validator(now: now) }
  private var entityTag: EntityTag { validator.entityTag }
  private var modifiedSeconds: Int? { validator.modifiedSeconds }
  private var nowSeconds: Int { now.secondsSince1970 }

  func response(to request: Request) throws -> Response {
    let tag = entityTag
    let outcome = Preconditions.evaluate(
      request.method, request.fields, current: tag, lastModifiedSeconds: modifiedSeconds,
      nowSecondsSince1970: nowSeconds)
    switch outcome {
    case .notModified: return Response(.notModified, fields: fields(tag))
    case .failed:
      throw Problem(
        .preconditionFailed, .preconditionFailed, "The file's entity tag is \(tag).")
    case .proceed: break
    }
    switch ranges(request, tag) {
    case .whole: return whole(tag)
    case .parts(let ranges) where ranges.count == 1: return part(ranges[0], tag)
    case .parts(let ranges): return multipart(ranges, tag)
    case .unsatisfiable:
      var problem = Problem(
        .rangeNotSatisfiable, .rangeNotSatisfiable, "The file has \(content.size) bytes.")
      problem.fields.append("Content-Range", "bytes */\(content.size)")
      throw problem
    }
  }

  private func ranges(_ request: Request, _ tag: EntityTag) -> ByteRanges.Selection {
    // Ranges are defined for GET alone (RFC 9110 section 14.2).
    guard request.method == .get,
      Preconditions.rangeApplies(
        request.fields, current: tag, lastModifiedSeconds: modifiedSeconds,
        nowSecondsSince1970: nowSeconds)
    else { return .whole }
    return ByteRanges.select(
      request.fields.combined("Range"), size: content.size, maximumParts: MediaFolder.maximumParts)
  }

  private func fields(_ tag: EntityTag) -> Fields {
    var fields: Fields = [
      "ETag": tag.description, "Cache-Control": caching.value ?? "no-store",
      "Accept-Ranges": "bytes",
      // Pages of any origin may show the file, also pages that isolate themselves (Fetch, 3.7).
      "Cross-Origin-Resource-Policy": "cross-origin",
    ]
    if let modifiedSeconds {
      fields.append("Last-Modified", HTTPDate.format(secondsSince1970: modifiedSeconds))
    }
    fields.appendCORS()
    return fields
  }

  /// Appends the fields that tell browsers how to treat the bytes: never as anything that runs.
  private func appendType(_ value: String, to fields: inout Fields) {
    fields.append("Content-Type", value)
    fields.append("X-Content-Type-Options", "nosniff")
    guard !type.isPassive else { return }
    fields.append("Content-Disposition", "attachment")
    fields.append("Content-Security-Policy", "default-src 'none'; sandbox")
  }

  private func whole(_ tag: EntityTag) -> Response {
    var fields = fields(tag)
    appendType(type.value, to: &fields)
    return Response(.ok, fields: fields, body: content.parts(0..<content.size))
  }

  private func part(_ range: Range<Int>, _ tag: EntityTag) -> Response {
    var fields = fields(tag)
    appendType(type.value, to: &fields)
    fields.append("Content-Range", contentRange(range))
    return Response(.partialContent, fields: fields, body: content.parts(range))
  }

  /// `multipart/byteranges` (RFC 9110 section 14.6).
  private func multipart(_ ranges: [Range<Int>], _ tag: EntityTag) -> Response {
    // So long that no file contains it by chance.
    let boundary = (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }
      .joined()
    var fields = fields(tag)
    appendType("multipart/byteranges; boundary=\(boundary)", to: &fields)
    var body: [Response.Part] = []
    for range in ranges {
      let head =
        "\(body.isEmpty ? "" : "\r\n")--\(boundary)\r\nContent-Type: \(type.value)\r\n"
        + "Content-Range: \(contentRange(range))\r\n\r\n"
      body += [.bytes(Array(head.utf8))] + content.parts(range)
    }
    body.append(.bytes(Array("\r\n--\(boundary)--\r\n".utf8)))
    return Response(.partialContent, fields: fields, body: body)
  }

  private func contentRange(_ range: Range<Int>) -> String {
    "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(content.size)"
  }
}

/// The query of a media file's URL.
struct MediaQuery {
  static let parameters = ["version", "expires", "signature"]

  /// The content that the URL names; `nil` for whatever is at the path.
  let version: ContentAddress?
  /// The second since 1970 at which the URL expires.
  let expires: Int?
  let signature: String?

  private static let seconds = 0...(1 << 53)

  /// - Throws: `ParameterError`.
  init(_ parameters: Parameters) throws(ParameterError) {
    version = try parameters["version"].map { text throws(ParameterError) in
      guard let version = ContentAddress(text: text) else {
        throw ParameterError(
          parameter: "version",
          problem: "is not 32 lowercase hexadecimal digits: \"\(text.prefix(40))\"")
      }
      return version
    }
    expires = try parameters.number("expires", in: Self.seconds)
    signature = parameters["signature"]
  }
}
