import HTTP
import HTTPServer
import Logging
import MediaIndex

/// The fields of a request for a resumable upload (draft-ietf-httpbis-resumable-upload-12). A field that is
/// not of its type is ignored, as the draft requires.
struct UploadFields {
  /// Whether the body is the file's end; `nil` for a request without such an upload.
  let isComplete: Bool?
  let offset: Int?
  let length: Int?
  /// Whether the client understands interim answers of this version of the draft.
  let knowsInterim: Bool

  init(_ fields: Fields) {
    let complete = Self.item(fields, "Upload-Complete")
    isComplete = complete == "?1" ? true : complete == "?0" ? false : nil
    offset = Self.number(fields, "Upload-Offset")
    length = Self.number(fields, "Upload-Length")
    knowsInterim =
      Self.item(fields, "Upload-Draft-Interop-Version") == ResumableUploads.interopVersion
  }

  /// An item without its parameters (RFC 9651 section 3.3).
  private static func item(_ fields: Fields, _ name: String) -> String? {
    fields.combined(name).map { String($0.prefix { $0 != ";" }) }
  }

  /// An integer (RFC 9651 section 3.3.1): at most fifteen digits; none is negative here.
  private static func number(_ fields: Fields, _ name: String) -> Int? {
    guard let text = item(fields, name), (1...15).contains(text.utf8.count),
      text.utf8.allSatisfy({ (48...57).contains($0) })
    else { return nil }
    return Int(text)
  }
}

extension ResumableUploads.Part {
  /// Reads what a request says of its body.
  ///
  /// - Throws: `ParameterError` for an invalid digest.
  init(_ call: Call, _ said: UploadFields) throws {
    contentLength =
      switch call.request.framing {
      case .none: 0
      case .length(let bytes): bytes
      case .chunked: nil
      }
    body = call.responder.body
    isLast = said.isComplete ?? true
    length = said.length
    digests = try DigestFields(call.request.fields, ["Content-Digest"])
    guard said.knowsInterim else {
      onProgress = nil
      return
    }
    let responder = call.responder
    onProgress = { offset in
      responder.inform(
        .uploadResumptionSupported,
        [
          "Upload-Draft-Interop-Version": ResumableUploads.interopVersion,
          "Upload-Offset": String(offset),
        ])
    }
  }
}

extension ResumableUploads {
  /// The path of an upload.
  static func path(_ id: String) -> String { "/v1/uploads/\(id)" }

  /// The fields of an answer that describe an upload.
  func fields(of state: State) -> Fields {
    var fields: Fields = [
      "Upload-Complete": state.isComplete ? "?1" : "?0", "Upload-Offset": String(state.offset),
      "Upload-Limit": limits(ageSeconds: state.ageSeconds), "Cache-Control": "no-store",
    ]
    if let length = state.length { fields.append("Upload-Length", String(length)) }
    if let segments = state.segments {
      fields.append("Content-Location", MediaAddresses.served.urls(of: segments)[0])
    }
    return fields
  }
}

/// The upload of a request, after a check that the writer may use it.
private struct UploadPlace {
  let uploads: ResumableUploads
  let id: String
  let token: String

  /// - Throws: the reason why the writer may not use it.
  init(_ uploads: ResumableUploads?, _ head: RequestHead) throws {
    guard let writer = try head.writer?.get() else { throw Problem.noMediaFolder }
    try writer.checkMedia()
    guard let uploads else { throw Problem.noMediaFolder }
    self.uploads = uploads
    id = head.path["upload"] ?? ""
    token = writer.name
  }

  /// Runs the work on a thread of uploads, after the end of a request that is using the same upload.
  func run(_ call: Call, _ work: @escaping @Sendable () throws -> Response) throws {
    uploads.supersede(id, token: token)
    let isTaken = uploads.pool.run {
      Result { try work() }
    } telling: { outcome in
      call.answer { try outcome.get() }
    }
    guard isTaken else { throw Problem.tooManyUploads }
  }
}

/// The state of an upload, section 4.3: `HEAD`, and `GET` without a body.
struct UploadStateHandler: RouteHandler {
  let uploads: ResumableUploads?

  func answer(_ call: Call) throws {
    let place = try UploadPlace(uploads, call.head)
    try place.run(call) {
      let state = try place.uploads.state(place.id, token: place.token)
      var fields = place.uploads.fields(of: state)
      fields.appendCORS()
      return Response(.noContent, fields: fields)
    }
  }
}

/// Cancels an upload, section 4.5.
struct CancelUploadHandler: RouteHandler {
  let uploads: ResumableUploads?

  func answer(_ call: Call) throws {
    let place = try UploadPlace(uploads, call.head)
    try place.run(call) {
      try place.uploads.cancel(place.id, token: place.token)
      return Response(.noContent, fields: ["Cache-Control": "no-store"])
    }
  }
}

/// Appends to an upload, section 4.4. The request with the last byte gets the answer of `WriteMediaHandler`.
struct AppendUploadHandler: UploadHandler {
  let uploads: ResumableUploads?
  let writing: WriteMediaHandler

  var maximumBytes: Int { uploads?.fileBytes ?? 0 }

  func check(_ request: Request, _ head: RequestHead) throws {
    _ = try place(request, head)
  }

  private func place(
    _ request: Request, _ head: RequestHead
  ) throws -> (UploadPlace, UploadFields, offset: Int) {
    let place = try UploadPlace(uploads, head)
    let type = request.fields.combined("Content-Type")?.prefix { $0 != ";" && $0 != " " }
    guard type.map({ String($0).asciiLowercased == ResumableUploads.partialType }) == true else {
      var problem = Problem(
        .unsupportedMediaType, .unsupportedMediaType,
        "Content appended to an upload must have the type \(ResumableUploads.partialType).")
      problem.fields.append("Accept-Patch", ResumableUploads.partialType)
      throw problem
    }
    try WriteMediaHandler.checkBody(request.fields)
    try place.uploads.checkLength(request)
    let said = UploadFields(request.fields)
    guard said.isComplete != nil else {
      throw ParameterError(parameter: "Upload-Complete", problem: "is neither ?0 nor ?1")
    }
    guard let offset = said.offset else {
      throw ParameterError(
        parameter: "Upload-Offset", problem: "is not the number of bytes appended before")
    }
    return (place, said, offset)
  }

  func answer(_ call: Call) throws {
    let (place, said, offset) = try place(call.request, call.head)
    let part = try ResumableUploads.Part(call, said)
    try place.run(call) { [writing] in
      let outcome = try place.uploads.append(
        place.id, token: place.token, offset: offset, part)
      return writing.response(outcome, of: place.uploads, isNew: false, call)
    }
  }
}
