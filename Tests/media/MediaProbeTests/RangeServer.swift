import TestSupport

/// A server of one file on the loopback, which answers as it is told and remembers what it was asked.
final class RangeServer: Sendable {
  typealias Question = LoopbackServer.Question

  /// What is answered: a status, whole fields, and a body.
  struct Answer: Sendable {
    var status: String
    var fields: [String] = []
    var body: [UInt8] = []
  }

  private let server: LoopbackServer

  /// - Parameter answer: given the question, and how many came before.
  init(_ answer: @escaping @Sendable (Question, Int) -> Answer) throws {
    server = try LoopbackServer { question in
      let answer = answer(question, question.number)
      let fields = answer.fields.map { field in
        let parts = field.split(separator: ":", maxSplits: 1)
        return (name: String(parts[0]), value: String(parts[1].drop { $0 == " " }))
      }
      return LoopbackServer.Reply(status: answer.status, fields: fields, body: answer.body)
    }
  }

  var port: UInt16 { server.port }
  var url: String { "http://127.0.0.1:\(server.port)/file" }
  /// What was asked so far.
  var questions: [Question] { server.questions }
  /// How many bytes of bodies went out so far.
  var sentBytes: Int { server.sentBytes }

  /// A file as every good server answers for it.
  static func file(
    _ bytes: [UInt8], fields: [String] = ["ETag: \"v1\""]
  ) -> @Sendable (Question, Int) -> Answer {
    { question, _ in Self.part(of: bytes, question, fields) }
  }

  /// The range of a file that is asked for.
  static func part(of bytes: [UInt8], _ question: Question, _ fields: [String]) -> Answer {
    guard let range = question.range else {
      return Answer(status: "200 OK", fields: fields, body: bytes)
    }
    guard range.lowerBound < bytes.count else {
      return Answer(status: "416 No", fields: ["Content-Range: bytes */\(bytes.count)"])
    }
    let last = min(range.upperBound, bytes.count - 1)
    return Answer(
      status: "206 Partial Content",
      fields: fields + ["Content-Range: bytes \(range.lowerBound)-\(last)/\(bytes.count)"],
      body: Array(bytes[range.lowerBound...last]))
  }
}
