import Feed
import HTTP
import HTTPServer
import JSON
import Logging
import MediaFiles
import MediaIndex
import PostJSON
import System

/// A route whose body is a file of any size.
protocol UploadHandler: RouteHandler {
  /// The maximum size of the body.
  var maximumBytes: Int { get }
  /// Checks the head alone.
  ///
  /// - Throws: the reason not to read the body.
  func check(_ request: Request, _ head: RequestHead) throws
}

/// The place for a media file, after a check that the writer may use it.
private struct MediaPlace {
  let uploads: MediaUploads
  let segments: [String]

  /// - Throws: the reason why the writer may not write there.
  init(
    _ uploads: MediaUploads?, _ writer: Result<WriteToken, Problem>?, _ path: String
  ) throws {
    self.uploads = try Self.uploads(uploads, writer)
    segments = try PathSegments.split("/" + path)
    guard PathSegments.isPlainlySpelt(path) else { throw NewMediaPathError.needlesslyEncoded }
    try NewMediaPath.check(segments)
  }

  static func uploads(
    _ uploads: MediaUploads?, _ writer: Result<WriteToken, Problem>?
  ) throws -> MediaUploads {
    try writer?.get().checkMedia()
    guard let uploads else { throw Problem.noMediaFolder }
    return uploads
  }
}

/// `DELETE` of a media file, RFC 9110 section 9.3.5: 204 when the file is removed, and pages show that. A
/// file that items name is deleted only by force.
struct DeleteMediaHandler: RouteHandler {
  let uploads: MediaUploads?
  let logger: Logger

  func answer(_ call: Call) throws {
    let place = try MediaPlace(uploads, call.head.writer, call.segment("path"))
    let (method, fields) = (call.request.method, call.request.fields)
    let isForced = try call.parameters.boolean("force") ?? false
    let isTaken = place.uploads.pool.run {
      Result { try place.uploads.delete(place.segments, isForced: isForced, method, fields) }
    } telling: { outcome in
      call.answer {
        try outcome.get()
        logger.info(
          "media file deleted",
          metadata: [
            "requestID": "\(call.responder.requestID)",
            "url": "\(MediaAddresses.served.urls(of: place.segments)[0])",
          ])
        return Response(.noContent, fields: ["Cache-Control": "no-store"])
      }
    }
    guard isTaken else { throw Problem.tooManyUploads }
  }
}

extension Problem {
  static var noMediaFolder: Problem {
    Problem(
      .writesOff, .forbidden,
      "The server has no folder for media files: it was started without --media-root, or with a "
        + "bucket but without --media-spool-folder.")
  }

  static var tooManyUploads: Problem {
    Problem(.overloaded, .serviceUnavailable, "Too many uploads of media files are under way.")
  }
}

/// `PUT` of a media file, RFC 9110 section 9.3.4: 201 if it creates the file, 200 if it replaces one. `POST`
/// of a file without a path: its content names it, so that the same content twice is one file.
///
/// With `Upload-Complete` the client may continue the upload after an interruption: see `ResumableUploads`.
struct WriteMediaHandler: UploadHandler {
  let uploads: MediaUploads?
  let resumable: ResumableUploads?
  let linking: MediaLinking
  let logger: Logger

  init(_ parts: HandlerParts) {
    uploads = parts.uploads
    resumable = parts.resumable
    linking = parts.linking
    logger = parts.logger
  }

  var maximumBytes: Int { uploads?.maximumBytes ?? 0 }

  func check(_ request: Request, _ head: RequestHead) throws {
    _ = try order(request, head.writer, head.path["path"], head.parameters)
  }

  private func order(
    _ request: Request, _ writer: Result<WriteToken, Problem>?, _ path: String?,
    _ parameters: Parameters
  ) throws -> (MediaUploads, MediaUploads.Order) {
    let place = try path.map { try MediaPlace(self.uploads, writer, $0) }
    let uploads = try place?.uploads ?? MediaPlace.uploads(self.uploads, writer)
    try Self.checkBody(request.fields)
    let said = UploadFields(request.fields)
    if let resumable, said.isComplete != nil { try resumable.checkLength(request) }
    // In an upload in parts, the content of a request is not the whole file.
    let isPart = said.isComplete == false
    let order = MediaUploads.Order(
      segments: place?.segments,
      digests: try isPart
        ? DigestFields(request.fields, ["Repr-Digest"]) : DigestFields(request.fields),
      isFaststart: try parameters.boolean("faststart") ?? false, method: request.method,
      fields: request.fields)
    try uploads.check(order)
    return (uploads, order)
  }

  /// - Throws: `ParameterError`, `Problem` for a body that is not a plain file.
  static func checkBody(_ fields: Fields) throws {
    // RFC 9110 section 14.5.
    if fields.contains("Content-Range") {
      throw ParameterError(
        parameter: "Content-Range", problem: "is not supported: upload the file as a whole")
    }
    if let coding = fields.combined("Content-Encoding"), coding.asciiLowercased != "identity" {
      var problem = Problem(
        .unsupportedMediaType, .unsupportedMediaType,
        "The body has the coding \(coding.prefix(40)): send the file without a coding.")
      problem.fields.append("Accept-Encoding", "identity")
      throw problem
    }
    if let type = fields.combined("Content-Type"),
      type.asciiLowercased.hasPrefix("multipart/")
    {
      throw Problem(
        .unsupportedMediaType, .unsupportedMediaType,
        "The body is \(type.prefix(40)): send the file alone, as curl -T does.")
    }
  }

  func answer(_ call: Call) throws {
    let (uploads, order) = try order(
      call.request, call.head.writer, call.head.path["path"], call.parameters)
    let said = UploadFields(call.request.fields)
    if let resumable, let isComplete = said.isComplete, !isComplete || said.knowsInterim {
      return try begin(order, said, resumable, call)
    }
    var length: Int?
    if case .length(let bytes) = call.request.framing { length = bytes }
    let body = call.responder.body
    let isTaken = uploads.pool.run { [length] in
      Result { try uploads.take(body, length: length, order) }
    } telling: { outcome in
      call.answer { response(try outcome.get(), call) }
    }
    guard isTaken else { throw Problem.tooManyUploads }
  }

  /// Creates an upload resource, tells the client its URL, and receives the body.
  private func begin(
    _ order: MediaUploads.Order, _ said: UploadFields, _ resumable: ResumableUploads, _ call: Call
  ) throws {
    let token = try call.writer().name
    let responder = call.responder
    let part = try ResumableUploads.Part(call, said)
    let isTaken = resumable.pool.run {
      Result {
        try resumable.create(order, token: token, part, isTold: said.knowsInterim) { state in
          guard said.knowsInterim else { return }
          responder.inform(
            .uploadResumptionSupported,
            [
              "Upload-Draft-Interop-Version": ResumableUploads.interopVersion,
              "Location": ResumableUploads.path(state.id),
              "Upload-Limit": resumable.limits(ageSeconds: state.ageSeconds),
            ])
        }
      }
    } telling: { outcome in
      call.answer { response(try outcome.get(), of: resumable, isNew: true, call) }
    }
    guard isTaken else { throw Problem.tooManyUploads }
  }

  /// The answer to a request that sent a part of a file, or its end.
  ///
  /// - Parameter isNew: whether the request created the upload.
  func response(
    _ outcome: ResumableUploads.Outcome, of resumable: ResumableUploads, isNew: Bool, _ call: Call
  ) -> Response {
    switch outcome {
    case .completed(let placed):
      var answer = response(placed, call)
      answer.fields.append("Upload-Complete", "?1")
      return answer
    case .appended(let state):
      var fields = resumable.fields(of: state)
      guard isNew else { return Response(.noContent, fields: fields) }
      fields.append("Location", ResumableUploads.path(state.id))
      return Response(.created, fields: fields)
    }
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private func response(_ placed: MediaUploads.Placed, _ call: Call) -> Response {
    let path = MediaAddresses.served.urls(of: placed.segments)[0]
    logger.info(
      "media file stored",
      metadata: [
        "requestID": "\(call.responder.requestID)", "url": "\(path)",
        "bytes": .stringConvertible(placed.status.bytes),
      ])
    let name = linking.links.name(
      of: Array(path.utf8).span, version: .content(sha256: placed.sha256))
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("url", name?.url.map(Self.text) ?? path)
      writer.member("immutableUrl", name?.immutableURL.map(Self.text))
      writer.member("path", path)
      writer.member("bytes", placed.status.bytes)
      writer.member("digest", DigestFields.text(.sha256, placed.sha256))
      if placed.isMended {
        writer.key("faststart")
        writer.boolean(true)
      }
      if let truth = placed.truth {
        writer.object("media") { $0.members(of: truth) }
      }
      writer.array("warnings") { writer in for words in placed.warnings { writer.string(words) } }
    }
    var fields: Fields = [
      "Cache-Control": "no-store",
      "ETag": FileValidator(placed.status, now: WallClock.now).entityTag.description,
    ]
    if placed.isNew { fields.append("Location", path) }
    fields.append(ContentType.json.fields)
    return Response(placed.isNew ? .created : .ok, fields: fields, bytes: writer.bytes)
  }
}
