import HTTP
import HTTPServer
import JSON
import MediaFiles
import MediaIndex

/// Answers with the files for which smaller versions were requested, newest request first, and whether this
/// server can make them.
struct RenditionsHandler: RouteHandler {
  let renditions: RenditionQueue?
  let workers: RequestWorkers

  func answer(_ call: Call) throws {
    try call.head.writer?.get().checkMedia()
    guard let renditions else { throw Problem.noMediaFolder }
    try workers.run(for: call) {
      call.answer {
        let problem = renditions.problem
        var writer = JSONWriter(capacity: 1_024)
        writer.object { writer in
          writer.key("canMake")
          writer.boolean(problem == nil)
          writer.member("problem", problem)
          writer.array("files") { writer in
            for order in renditions.all { writer.rendition(order) }
          }
        }
        var fields = CachePolicy.Directive.none.fields
        fields.append(ContentType.json.fields)
        return Response(.ok, fields: fields, bytes: writer.bytes)
      }
    }
  }
}

/// Orders smaller versions of a media file: 202, since making them takes time.
struct PostRenditionHandler: RouteHandler {
  static let parameters = ["path"]

  let renditions: RenditionQueue?
  let media: MediaFolder?
  let workers: RequestWorkers

  func answer(_ call: Call) throws {
    try call.writer().checkMedia()
    guard let media, let renditions else { throw Problem.noMediaFolder }
    guard let path = call.parameters["path"] else {
      throw ParameterError(
        parameter: "path", problem: "is missing: the path of a media file, such as /media/a/b.jpg")
    }
    guard let segments = MediaAddresses.served.segments(of: path), !segments.isEmpty else {
      throw ParameterError(
        parameter: "path", problem: "is not the path of a media file, such as /media/a/b.jpg")
    }
    try workers.run(for: call) {
      call.answer {
        if let problem = renditions.problem {
          throw Problem(
            .notSupported, .notImplemented, "This server makes no smaller versions: \(problem).")
        }
        // Only existing files may be queued.
        _ = try media.storage.status(of: segments, forClient: true)
        var writer = JSONWriter()
        writer.rendition(try renditions.add(segments))
        var fields = CachePolicy.Directive.none.fields
        fields.append(ContentType.json.fields)
        return Response(.accepted, fields: fields, bytes: writer.bytes)
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func rendition(_ order: RenditionQueue.Order) {
    object { writer in
      writer.member("path", MediaAddresses.served.urls(of: order.segments)[0])
      writer.member("state", order.state.rawValue)
      guard order.state == .made || order.state == .failed else { return }
      writer.member("made", order.made)
      writer.member("kept", order.kept)
      writer.member("dropped", order.dropped)
      writer.member("problem", order.problem)
    }
  }
}
