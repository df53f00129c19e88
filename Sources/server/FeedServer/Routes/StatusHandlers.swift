import HTTPServer
import System

/// Answers with a document that depends on nothing in the request.
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
  /// Reads figures: what is told of feeds grows with their number, and is asked for when all else is busy.
  let scrapes: WorkerPool

  func answer(_ call: Call) throws {
    guard scrapes.run({ call.answer { figures.response() } }) else {
      throw Problem(.overloaded, .serviceUnavailable, "The figures are being read.")
    }
  }
}
