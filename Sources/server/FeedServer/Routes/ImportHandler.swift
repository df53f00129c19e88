import Catalog
import Feed
import Foundation
import HTTP
import HTTPServer
import JSON
import Logging
import Seeding
import System

/// Seeds the store from the body while it arrives.
struct ImportHandler: RouteHandler {
  let store: any FeedStore
  let seeder: Seeder
  let imports: WorkerPool
  let figures: ApplicationFigures
  let logger: Logger

  func answer(_ call: Call) throws {
    try call.writer().checkEverything()
    try BodyType.records.check(call.request.fields)
    // A client that has its answer may send the next import.
    let isTaken = imports.run {
      Result { try runImport(call) }
    } telling: { outcome in
      call.answer { try outcome.get() }
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Other imports are running.")
    }
  }

  private func runImport(_ call: Call) throws -> Response {
    let body = call.responder.body
    let input = SeedInput(name: "body") { try body?.read() }
    var seeder = seeder
    seeder.format = .records
    var refusals = RefusalList()
    var progress = SeedProgress()
    do {
      let report = try seeder.run(
        [input], into: store,
        onProblem: { refusals.note($0) },
        onProgress: { progress = $0 })
      figures.note(report.summary, refused: report.skipped)
      logger.info(
        "imported",
        metadata: [
          "requestID": "\(call.responder.requestID)",
          "added": .stringConvertible(report.summary.added),
          "changed": .stringConvertible(report.summary.changed),
          "unchanged": .stringConvertible(report.summary.unchanged),
          "refused": .stringConvertible(report.skipped),
        ])
      return importResponse(report, refusals)
    } catch let error as BodyStreamError {
      logger.notice(
        "import cut short: \(error)",
        metadata: [
          "requestID": "\(call.responder.requestID)",
          "records": .stringConvertible(progress.records),
        ])
      throw Problem(.malformedRequest, .badRequest, error.description)
    } catch let error as SeedInputError {
      throw Problem(.malformedRequest, .badRequest, "The body cannot be read: \(error.reason).")
    } catch {
      logger.error(
        "import failed: \(error)",
        metadata: [
          "requestID": "\(call.responder.requestID)",
          "records": .stringConvertible(progress.records),
        ])
      throw error
    }
  }

  private func importResponse(_ report: SeedReport, _ refusals: RefusalList) -> Response {
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("added", report.summary.added)
      writer.member("changed", report.summary.changed)
      writer.member("unchanged", report.summary.unchanged)
      writer.member("refused", report.skipped)
      writer.array("rankedAnew") { writer in
        for feed in report.summary.rankedAnew { writer.string(feed) }
      }
      writer.key("refusals")
      refusals.write(to: &writer)
    }
    var fields: Fields = ["Cache-Control": "no-store"]
    fields.append(ContentType.json.fields)
    return Response(.ok, fields: fields, bytes: writer.bytes)
  }
}
