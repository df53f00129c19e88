import Catalog
import Experiments
import Feed
import HTTP
import HTTPServer
import JSON
import MediaFiles
import MediaFormats
import MediaIndex
import Seeding
import System

/// An error as the client receives it: `application/problem+json` (RFC 9457).
struct Problem: Error, Sendable {
  /// The identifier of a problem for programs; stable.
  enum Kind: String, CaseIterable, Sendable {
    case invalidParameter = "invalid-parameter"
    case invalidCursor = "invalid-cursor"
    case differentRankings = "different-rankings"
    case expiredCursor = "expired-cursor"
    case expiredChanges = "expired-changes"
    case malformedRequest = "malformed-request"
    case misdirectedRequest = "misdirected-request"
    case unknownRoute = "unknown-route"
    case unknownFeed = "unknown-feed"
    case unknownItem = "unknown-item"
    case feedExists = "feed-exists"
    case unknownNetwork = "unknown-network"
    case unknownExperiment = "unknown-experiment"
    case experimentConflict = "experiment-conflict"
    case noPlace = "no-place"
    case unknownMedia = "unknown-media"
    case unknownMediaVersion = "unknown-media-version"
    case invalidMediaPath = "invalid-media-path"
    case mediaConflict = "media-conflict"
    case mediaInUse = "media-in-use"
    case unknownUpload = "unknown-upload"
    case uploadSuperseded = "upload-superseded"
    case mismatchingOffset = "mismatching-upload-offset"
    case completedUpload = "completed-upload"
    case inconsistentLength = "inconsistent-upload-length"
    case wrongDigest = "wrong-digest"
    case brokenMedia = "broken-media"
    case missingSignature = "missing-signature"
    case wrongSignature = "wrong-signature"
    case expiredURL = "expired-url"
    case methodNotAllowed = "method-not-allowed"
    case preconditionFailed = "precondition-failed"
    case rangeNotSatisfiable = "range-not-satisfiable"
    case notAcceptable = "not-acceptable"
    case unsupportedMediaType = "unsupported-media-type"
    case invalidRecord = "invalid-record"
    case counterLimit = "counter-limit"
    case idempotencyKeyReused = "idempotency-key-reused"
    case unauthorized = "unauthorized"
    case insufficientRights = "insufficient-rights"
    case writesOff = "writes-off"
    case reportsOff = "reports-off"
    case wrongReportToken = "wrong-report-token"
    case tooManyRequests = "too-many-requests"
    case storageFull = "storage-full"
    case quotaExceeded = "quota-exceeded"
    case limitExceeded = "limit-exceeded"
    case timedOut = "timed-out"
    case mediaStoreFailed = "media-store-failed"
    case notSupported = "not-supported"
    case overloaded = "overloaded"
    case notReady = "not-ready"
    case internalError = "internal-error"

    /// The `type` member: a name instead of an address, so that it never breaks; for a registered problem,
    /// the registered URI (draft-ietf-httpbis-resumable-upload-12 section 7).
    var uri: String {
      switch self {
      case .mismatchingOffset, .completedUpload, .inconsistentLength:
        "https://iana.org/assignments/http-problem-types#" + rawValue
      default: "urn:lookahead:problem:" + rawValue
      }
    }

    /// Whether the server's operator needs to know of the problem.
    var isServersFault: Bool {
      self == .internalError || self == .storageFull || self == .mediaStoreFailed
    }

    /// The `title` member.
    var title: String {
      switch self {
      case .invalidParameter: "A parameter is not valid"
      case .invalidCursor: "The cursor is damaged or belongs to another feed"
      case .differentRankings: "The cursors belong to different rankings"
      case .expiredCursor: "The cursor's ranking is no longer kept"
      case .expiredChanges: "The changes since the cursor are no longer kept"
      case .malformedRequest: "The request is not well-formed HTTP"
      case .misdirectedRequest: "The host is not allowed"
      case .unknownRoute: "There is no such route"
      case .unknownFeed: "There is no such feed"
      case .unknownItem: "There is no such item"
      case .feedExists: "The name belongs to another feed"
      case .unknownNetwork: "There is no such network"
      case .unknownExperiment: "There is no such experiment"
      case .experimentConflict: "The experiment's state does not allow that"
      case .noPlace: "The item cannot be placed there"
      case .unknownMedia: "There is no such media file"
      case .unknownMediaVersion: "The media file has different content"
      case .invalidMediaPath: "The path is not valid for a media file"
      case .mediaConflict: "Another file or folder occupies the path"
      case .mediaInUse: "Items show the media file"
      case .unknownUpload: "There is no such upload"
      case .uploadSuperseded: "A later request superseded this one"
      case .mismatchingOffset: "The offset does not match the upload"
      case .completedUpload: "The upload is complete"
      case .inconsistentLength: "The length does not match the upload"
      case .wrongDigest: "The digest does not match"
      case .brokenMedia: "The media file is broken"
      case .missingSignature: "The URL is not signed"
      case .wrongSignature: "The signature of the URL is not valid"
      case .expiredURL: "The URL has expired"
      case .methodNotAllowed: "The route does not support this method"
      case .preconditionFailed: "A precondition failed"
      case .rangeNotSatisfiable: "The file has no such range"
      case .notAcceptable: "No representation is acceptable to the client"
      case .unsupportedMediaType: "The type of the body is not supported"
      case .invalidRecord: "The body is not a valid record"
      case .counterLimit: "A counter's limit is exceeded"
      case .idempotencyKeyReused: "The idempotency key belongs to another request"
      case .unauthorized: "The token is missing or wrong"
      case .insufficientRights: "The token lacks the required right"
      case .writesOff: "Writes are off"
      case .reportsOff: "Reports are off"
      case .wrongReportToken: "The report has no valid token of a page"
      case .tooManyRequests: "The client sends too many requests"
      case .storageFull: "The disk is full"
      case .quotaExceeded: "The media folder is full"
      case .limitExceeded: "A limit of this server is exceeded"
      case .timedOut: "The request took too long"
      case .mediaStoreFailed: "The object store of the media files failed"
      case .notSupported: "The server does not support this"
      case .overloaded: "The server is overloaded"
      case .notReady: "The server is not ready"
      case .internalError: "The server failed"
      }
    }
  }

  let kind: Kind
  let status: Status
  /// What is wrong with this request.
  let detail: String
  /// The invalid parameter.
  var parameter: String?
  /// The invalid field of a record, such as `media[0].width`; `nil` if the whole record is invalid or the
  /// field has no name.
  var field: String?
  /// The offset of an upload, and the offset that the request gave.
  var offsets: (expected: Int, provided: Int)?
  /// The ids of items that cause the conflict.
  var items: [String] = []
  /// The header fields that the status requires.
  var fields = Fields()
  /// The value of `Retry-After` in seconds, for 429 and 503.
  var retryAfterSeconds = 1

  init(_ kind: Kind, _ status: Status, _ detail: String, parameter: String? = nil) {
    self.kind = kind
    self.status = status
    self.detail = detail
    self.parameter = parameter
  }

  /// 404; for `/v1/items/`, with the routes that write items.
  static func unknownRoute(_ path: String) -> Problem {
    let remedy =
      path == "/v1/items/"
      ? ": POST /v1/items creates an item, PUT /v1/items/{id} writes one, POST /v1/import loads "
        + "many"
      : ""
    return Problem(.unknownRoute, .notFound, "There is no route \(path)\(remedy).")
  }

  /// 405, with the methods that the route supports.
  static func methodNotAllowed(_ method: Method, _ path: String, allowed: [Method]) -> Problem {
    let methods = allowed.map(\.rawValue).joined(separator: ", ")
    var problem = Problem(
      .methodNotAllowed, .methodNotAllowed,
      "\(path) does not support \(method.rawValue), only \(methods).")
    problem.fields.append("Allow", methods)
    return problem
  }

  /// The maximum bytes of a detail, and of the name of a parameter or field: both may quote the request.
  private static let detailBytes = 1000
  private static let nameBytes = 300

  /// The answer; `instance` is the request's id.
  func response(requestID: String) -> Response {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("type", kind.uri)
      writer.member("title", kind.title)
      writer.member("status", status.code)
      writer.member("detail", detail.shortened(toBytes: Self.detailBytes))
      writer.member("instance", requestID)
      writer.member("parameter", parameter?.shortened(toBytes: Self.nameBytes))
      writer.member(
        "field", field.flatMap { $0.isEmpty ? nil : $0.shortened(toBytes: Self.nameBytes) })
      writer.member("expected-offset", offsets?.expected)
      writer.member("provided-offset", offsets?.provided)
      if !items.isEmpty {
        writer.array("items") { writer in for item in items { writer.string(item) } }
      }
    }
    var fields = self.fields
    fields.append(ContentType.problem.fields)
    fields.append(CachePolicy.Directive.none.fields)
    if status == .serviceUnavailable || status == .tooManyRequests {
      fields.append("Retry-After", String(retryAfterSeconds))
    }
    return Response(status, fields: fields, bytes: writer.bytes)
  }
}

extension Fields {
  private static let crossOrigin: Fields = [
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers":
      "Accept-Ranges, Content-Range, ETag, Link, Retry-After, Server-Timing, X-Request-Id",
  ]

  /// Lets pages of any origin read the answer, with the fields that a client needs for paging.
  mutating func appendCORS() { append(Self.crossOrigin) }
}

extension Problem {
  /// Maps errors to statuses, all in this one place.
  ///
  /// Of the server's own faults clients learn only that they are such; the log has the cause.
  init(_ error: any Error) {
    switch error {
    case let problem as Problem: self = problem
    case let error as ParameterError:
      self.init(.invalidParameter, .badRequest, error.description, parameter: error.parameter)
    case let error as CursorError:
      self.init(.invalidCursor, .badRequest, error.description, parameter: error.parameter)
    case let error as Query.Malformed:
      self.init(
        .invalidParameter, .badRequest, error.description, parameter: error.parameter)
    case let error as PercentEncodingError:
      self.init(.malformedRequest, .badRequest, "The path contains \(error).")
    case let error as FeedError: self.init(error)
    case let error as ExperimentError: self.init(error)
    case ChangeCursorError.foreign:
      self.init(
        .invalidCursor, .badRequest, "The cursor belongs to another database.", parameter: "since")
    case ChangeCursorError.expired:
      self.init(
        .expiredChanges, .gone,
        "The changes since the cursor are no longer kept: omit since, and copy everything again.",
        parameter: "since")
    case let error as ProtocolError: self.init(error)
    case let error as RecordError:
      self.init(.invalidRecord, .unprocessableContent, "The record is refused: \(error).")
      field = error.field
    case MediaError.notFound, MediaError.denied:
      self.init(.unknownMedia, .notFound, "There is no such media file.")
    case let error as MediaError where error.isConflict:
      self.init(.preconditionFailed, .preconditionFailed, "The file was changed meanwhile.")
    case let error as MediaError where error.isPassing:
      self.init(
        .mediaStoreFailed, .serviceUnavailable,
        "The object store of the media files does not answer, or is overloaded.")
      retryAfterSeconds = Self.storeRetrySeconds
    case MediaError.store:
      self.init(
        .mediaStoreFailed, .badGateway,
        "The object store of the media files refused the server's request.")
    case let error as NewMediaPathError:
      self.init(.invalidMediaPath, .badRequest, error.description)
    case let error as MediaPlaceError:
      self.init(.mediaConflict, .conflict, error.description)
    case BodyStreamError.cancelled:
      self.init(.uploadSuperseded, .conflict, "A later request superseded this one.")
    case let error as UploadedTypeError:
      self.init(.unsupportedMediaType, .unsupportedMediaType, error.description)
    case let error as BodyStreamError:
      self.init(.malformedRequest, .badRequest, error.description)
    case let error as SystemError where error.isFullDisk:
      self.init(.storageFull, .insufficientStorage, "The server's disk is full. Nothing is stored.")
    case let error as SystemError where error.isRefusal:
      self.init(
        .writesOff, .forbidden, "The server has no permission to write to its media folder.")
    case MediaError.exhausted:
      self.init(.overloaded, .serviceUnavailable, "The server has too many files open.")
    case is ItemMoved:
      self.init(
        .overloaded, .serviceUnavailable,
        "The item was changed repeatedly meanwhile: send the patch again.")
    case let error as TextIndexUnfinished:
      self.init(
        .notReady, .serviceUnavailable,
        "The texts of older items are still being indexed: about \(error.below) are left.")
      retryAfterSeconds = Self.indexingRetrySeconds
    case let error as any StoreFailure: self.init(error.kind)
    default: self = .internalError
    }
  }

  private static let indexingRetrySeconds = 5
  private static let storeRetrySeconds = 2

  private static let internalError = Problem(
    .internalError, .internalServerError, "The server could not answer.")

  private init(_ failure: StoreFailureKind) {
    switch failure {
    case .busy: self.init(.overloaded, .serviceUnavailable, "The database is busy.")
    case .tooManyWrites:
      self.init(.overloaded, .serviceUnavailable, "Too many writes wait for the database.")
    case .closed: self.init(.notReady, .serviceUnavailable, "The server is shutting down.")
    case .unavailable:
      self.init(
        .notReady, .serviceUnavailable,
        "The database is not reachable, or its file is no longer the one that the server opened; "
          + "nothing is written.")
    case .readOnly:
      self.init(
        .writesOff, .forbidden,
        "Writes are off: the server has no permission to write to its database.")
    case .importDropped:
      self.init(
        .overloaded, .serviceUnavailable,
        "The rankings of the import were dropped meanwhile: send it again.")
    case .full:
      self.init(
        .storageFull, .insufficientStorage,
        "The server's disk is full; for an import, the batches before that are stored.")
    case .other: self = .internalError
    }
  }

  private init(_ error: ExperimentError) {
    let (kind, status): (Kind, Status) =
      switch error {
      case .unknownFeed: (.unknownFeed, .notFound)
      case .unknownNetwork: (.unknownNetwork, .notFound)
      case .unknown: (.unknownExperiment, .notFound)
      case .overlaps, .isOver, .hasMovedOn, .notWaiting, .nothingApplied, .changedSince:
        (.experimentConflict, .conflict)
      }
    let words = "\(error)"
    self.init(kind, status, words.prefix(1).uppercased() + words.dropFirst() + ".")
  }

  private init(_ error: FeedError) {
    switch error {
    case .unknownFeed(let name):
      self.init(.unknownFeed, .notFound, "There is no feed \"\(name)\".")
    case .unknownItem(let id):
      self.init(.unknownItem, .notFound, "There is no item \"\(id)\".")
    case .feedExists(let name):
      self.init(
        .feedExists, .conflict, "A feed named \"\(name)\" already exists.")
    case .itemNotInFeed(let item, let feed):
      self.init(
        .unknownItem, .notFound, "The feed \"\(feed)\" has no item \"\(item)\".",
        parameter: "around")
    case .noPlaceBeside(let item, let feed):
      self.init(
        .noPlace, .conflict,
        "The feed \"\(feed)\" has no other item \"\(item)\" to place the item next to.")
      field = "feeds"
    case .neighborWithoutRank(let item, let feed):
      self.init(
        .noPlace, .conflict,
        "The item \"\(item)\" has no rank in the feed \"\(feed)\": its time places it, and no "
          + "other item can be placed next to it.")
      field = "feeds"
    case .foreignCursor(let role, let feed):
      self.init(
        .invalidCursor, .badRequest, "The cursor does not belong to the feed \"\(feed)\".",
        parameter: role.rawValue)
    case .unknownRanking(let role, let ranking, let feed):
      self.init(
        .invalidCursor, .badRequest,
        "The cursor names ranking \(ranking), which the feed \"\(feed)\" never had.",
        parameter: role.rawValue)
    case .expiredRanking(let role, let ranking, let feed):
      self.init(
        .expiredCursor, .gone,
        "Ranking \(ranking) of the feed \"\(feed)\" is no longer kept: start again from the top.",
        parameter: role.rawValue)
    case .differentRankings(let after, let before):
      self.init(
        .differentRankings, .badRequest,
        "after names ranking \(after), but before names ranking \(before): a gap must be in one "
          + "ranking.",
        parameter: "before")
    case .counterOutOfRange(let item, let counter):
      self.init(
        .counterLimit, .unprocessableContent,
        "The counter \"\(counter)\" of the item \"\(item)\" would exceed ±\(RecordLimits.number).")
      field = counter
    case .tooManyCounters(let item, let limit):
      self.init(
        .counterLimit, .unprocessableContent,
        "The item \"\(item)\" would have more than \(limit) counters.")
    case .idempotencyKeyReused(let key):
      self.init(
        .idempotencyKeyReused, .unprocessableContent,
        "The key \"\(key)\" was used before, for a different request.",
        parameter: "Idempotency-Key")
    }
  }

  private init(_ error: ProtocolError) {
    let kind: Kind =
      switch error.status {
      case .requestTimeout: .timedOut
      case .serviceUnavailable: .overloaded
      case .internalServerError: .internalError
      case .contentTooLarge, .uriTooLong, .requestHeaderFieldsTooLarge: .limitExceeded
      case .notImplemented, .httpVersionNotSupported, .expectationFailed: .notSupported
      default: .malformedRequest
      }
    self.init(kind, error.status, error.description)
  }
}

/// The refused records that the answer to an import lists: at most a fixed number of records and of bytes,
/// however much of the records their problems quote. The others are only counted.
struct RefusalList {
  /// The maximum number of listed records.
  static let maximumCount = 100
  /// The maximum bytes of one problem.
  static let problemBytes = 500
  /// The maximum bytes of all problems together; the problem that exceeds it is the last.
  static let maximumBytes = 16_384

  private var refusals: [(line: Int, problem: String)] = []
  private var bytes = 0

  mutating func note(_ problem: SeedProblem) {
    guard refusals.count < Self.maximumCount, bytes < Self.maximumBytes else { return }
    let text = problem.problem.shortened(toBytes: Self.problemBytes)
    bytes += text.utf8.count
    refusals.append((problem.line, text))
  }

  /// Writes the list as a JSON array.
  func write(to writer: inout JSONWriter) {
    writer.array { writer in
      for refusal in refusals {
        writer.object { writer in
          writer.member("line", refusal.line)
          writer.member("problem", refusal.problem)
        }
      }
    }
  }
}

extension String {
  /// The text; if it has more than `limit` bytes of UTF-8, its beginning and its size: `unknown field "aaaa…
  /// (1048576 bytes)`.
  ///
  /// For answers that quote what a client sent, which may be as long as a body.
  func shortened(toBytes limit: Int) -> String {
    let bytes = utf8
    // Counts no further than needed: most texts are short.
    guard let cut = bytes.index(startIndex, offsetBy: limit, limitedBy: endIndex), cut < endIndex
    else { return self }
    var end = cut
    while end > startIndex, UTF8.isContinuation(bytes[end]) { end = bytes.index(before: end) }
    return "\(self[..<end])… (\(bytes.count) bytes)"
  }
}
