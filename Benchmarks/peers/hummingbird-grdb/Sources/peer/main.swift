// A page of a feed as a Swift service answers it: Hummingbird, GRDB, JSONEncoder.
//
//   peer DATABASE PORT POSTS.sql

import Foundation
import GRDB
import Hummingbird

let arguments = CommandLine.arguments
guard arguments.count == 4, let port = Int(arguments[2]) else {
  fatalError("usage: peer DATABASE PORT POSTS.sql")
}
let sql = try String(contentsOfFile: arguments[3], encoding: .utf8)
var configuration = Configuration()
configuration.readonly = true
let pool = try DatabasePool(path: arguments[1], configuration: configuration)

let router = Router()
router.get("/rp/") { request, _ -> Response in
  guard let feed = request.uri.queryParameters.get("feed"),
    let limit = request.uri.queryParameters.get("limit", as: Int.self), (1...100).contains(limit)
  else { throw HTTPError(.badRequest) }
  let page = try await pool.read { try Page.read($0, sql: sql, feed: feed, limit: limit) }
  let encoder = JSONEncoder()
  encoder.dateEncodingStrategy = .iso8601
  encoder.outputFormatting = .withoutEscapingSlashes
  let body = ByteBuffer(data: try encoder.encode(page))
  return Response(
    status: .ok, headers: [.contentType: "application/json"],
    body: ResponseBody(byteBuffer: body))
}

// As many event loops as there are cores to run on: one.
let application = Application(
  router: router,
  configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)))
try await application.runService()
