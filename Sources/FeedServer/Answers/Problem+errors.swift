import Catalog
import Feed
import HTTP
import MediaFiles

extension Problem {
  /// The one place that maps errors to statuses.
  ///
  /// What is nobody's fault but the server's is told to the client as that and nothing more; its cause
  /// goes to the log.
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
      self.init(.malformedRequest, .badRequest, "The path holds \(error).")
    case let error as FeedError: self.init(error)
    case let error as ProtocolError: self.init(error)
    case let error as RecordError:
      self.init(.invalidRecord, .unprocessableContent, "The record is refused: \(error).")
      field = error.field.isEmpty ? nil : error.field
    case MediaError.notFound, MediaError.denied:
      self.init(.unknownMedia, .notFound, "There is no such media file.")
    case MediaError.exhausted:
      self.init(.overloaded, .serviceUnavailable, "The server has too many files open.")
    case let error as any StoreFailure: self.init(error.kind)
    default: self = .internalError
    }
  }

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
        "The database cannot be reached, or its file is not the one that the server opened; "
          + "nothing is written.")
    case .readOnly:
      self.init(
        .writesOff, .forbidden,
        "Writes are off: the server's rights on its database do not allow them.")
    case .importDropped:
      self.init(
        .overloaded, .serviceUnavailable,
        "The rankings that the import was making were dropped meanwhile: send it again.")
    case .full:
      self.init(
        .storageFull, .insufficientStorage,
        "The server's disk is full; of an import, the batches before that are stored.")
    case .other: self = .internalError
    }
  }

  private init(_ error: FeedError) {
    switch error {
    case .unknownFeed(let name):
      self.init(.unknownFeed, .notFound, "There is no feed \"\(name)\".")
    case .unknownItem(let id):
      self.init(.unknownItem, .notFound, "There is no item \"\(id)\".")
    case .feedExists(let name):
      self.init(
        .feedExists, .conflict, "There is a feed \"\(name)\" already: no other can have its name.")
    case .itemNotInFeed(let item, let feed):
      self.init(
        .unknownItem, .notFound, "The feed \"\(feed)\" has no item \"\(item)\".",
        parameter: "around")
    case .foreignCursor(let role, let feed):
      self.init(
        .invalidCursor, .badRequest, "The cursor is not one of the feed \"\(feed)\".",
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
        "after names ranking \(after) and before names ranking \(before): a gap lies in one ranking.",
        parameter: "before")
    case .counterOutOfRange(let item, let counter):
      self.init(
        .counterLimit, .unprocessableContent,
        "The counter \"\(counter)\" of the item \"\(item)\" would leave ±\(RecordLimits.number).")
      field = counter
    case .tooManyCounters(let item, let limit):
      self.init(
        .counterLimit, .unprocessableContent,
        "The item \"\(item)\" would have more than \(limit) counters.")
    case .idempotencyKeyReused(let key):
      self.init(
        .idempotencyKeyReused, .unprocessableContent,
        "The key \"\(key)\" was given before, to a request that asked for something else.",
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
