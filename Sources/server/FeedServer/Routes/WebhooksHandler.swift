import Catalog
import Feed
import HTTP
import HTTPServer
import JSON

/// Answers with the progress of each webhook in this server's settings, without secrets and paths.
struct WebhooksHandler: RouteHandler {
  let targets: [WebhookTarget]
  let store: any ChangeStore
  let workers: RequestWorkers

  func answer(_ call: Call) throws {
    try call.writer().checkChanges()
    try workers.run(for: call) { [store, targets] in
      call.answer {
        let saved = try store.webhooks()
        var writer = JSONWriter(capacity: 512)
        writer.object { writer in
          writer.array("webhooks") { writer in
            for target in targets {
              writer.webhook(target, saved.first { $0.name == target.name })
            }
          }
        }
        var fields = CachePolicy.Directive.none.fields
        fields.append(ContentType.json.fields)
        return Response(.ok, fields: fields, bytes: writer.bytes)
      }
    }
  }
}

extension JSONWriter {
  fileprivate mutating func webhook(_ target: WebhookTarget, _ saved: WebhookState?) {
    func time(_ milliseconds: Int64?) -> String? {
      milliseconds.map { Timestamp(microseconds: $0 * 1_000).rfc3339 }
    }
    object { writer in
      writer.member("name", target.name)
      writer.member("origin", target.post.origin)
      guard let saved else { return }
      writer.member("position", saved.position.text)
      writer.member("behindSince", time(saved.behindSince))
      writer.member("lastSuccess", time(saved.lastSuccess))
      writer.member("lastFailure", time(saved.lastFailure))
      writer.member("lastProblem", saved.lastProblem)
      writer.member("failures", saved.failures)
      writer.member("nextAttempt", time(saved.nextAttempt))
    }
  }
}
