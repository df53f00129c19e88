import HTTPServer
import Observability
import System

/// Counts what the server does, and writes a line for each request.
///
/// An object: each answer takes a reference to it.
final class ApplicationObserver: ServerObserver {
  private let figures: ApplicationFigures
  /// `nil`: no lines.
  private let log: LogSink?
  private let clients: ClientAddresses

  /// - Parameter log: where the lines go; nil where there are none.
  init(figures: ApplicationFigures, log: LogSink?, clients: ClientAddresses) {
    self.figures = figures
    self.log = log
    self.clients = clients
  }

  func noted(_ event: ServerEvent) { figures.note(event) }

  func finished(_ request: FinishedRequest) {
    figures.note(request)
    guard let log else { return }
    let client = clients.address(forwardedFor: request.forwardedFor, peer: request.peer)
    log.append(
      RequestLine(
        method: request.method?.rawValue ?? "-", path: request.path, route: request.route,
        status: request.status.code, bytes: request.bytes, microseconds: request.microseconds,
        requestID: request.requestID, client: client?.description ?? "-", user: request.user),
      nanosecondsSince1970: WallClock.exactNow.nanosecondsSince1970)
  }
}
