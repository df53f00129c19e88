import HTTPServer
import System

/// Answers with a document that does not depend on the request.
struct DocumentHandler: RouteHandler {
  private let encoding: BodyEncoding
  private let document: @Sendable () throws -> Representation

  init(_ encoding: BodyEncoding, _ document: @escaping @Sendable () throws -> Representation) {
    self.encoding = encoding
    self.document = document
  }

  func answer(_ call: Call) throws { encoding.answer(try document(), to: call) }
}

/// Answers with the figures, for Prometheus.
struct MetricsHandler: RouteHandler {
  let figures: ApplicationFigures
  /// Reads figures on its own thread: those of feeds grow with their number, and monitoring reads them when
  /// all else is busy.
  let scrapes: WorkerPool

  func answer(_ call: Call) throws {
    guard scrapes.run({ call.answer { figures.response() } }) else {
      throw Problem(.overloaded, .serviceUnavailable, "The figures are being read.")
    }
  }
}
