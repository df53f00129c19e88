import TestSupport
import Testing

/// What a client sends, and what comes of it whichever pieces it comes in.
struct MachineMessage: Sendable, CustomTestStringConvertible {
  let name: String
  let text: String
  /// The answers: status and, where it is 200, text.
  let answers: [String]
  /// Whether the connection goes on afterwards.
  let isKept: Bool

  init(_ name: String, _ text: String, _ answers: [String], isKept: Bool = true) {
    self.name = name
    self.text = text
    self.answers = answers
    self.isKept = isKept
  }

  var testDescription: String { name }
  var bytes: [UInt8] { Array(text.utf8) }

  /// A request with Host, and more fields.
  private static func head(_ line: String, _ fields: String...) -> String {
    ([line + " HTTP/1.1", "Host: a"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  /// A message that is refused, and ends the connection.
  private static func refused(_ name: String, _ text: String, _ status: Int) -> Self {
    Self(name, text, ["\(status)"], isKept: false)
  }

  static let all = served + ended + refusedHeads + refusedBodies

  /// Some of them, where each is tried in hundreds of ways.
  static let some = TestRandom.some(24, of: all)

  static let served = [
    Self("GET", head("GET /a"), ["200 GET /a "]),
    Self("HEAD", head("HEAD /a"), ["200 "]),
    Self("an empty line before", "\r\n\r\n" + head("GET /a"), ["200 GET /a "]),
    Self("absolute form", head("GET http://b/a"), ["200 GET /a "]),
    Self("asterisk", head("OPTIONS *"), ["200 OPTIONS * "]),
    Self("upgrade", head("GET /a", "Connection: upgrade", "Upgrade: h2c"), ["200 GET /a "]),
    Self(
      "pipelined", head("GET /a") + head("HEAD /b") + head("GET /c"),
      ["200 GET /a ", "200 ", "200 GET /c "]),
    Self(
      "a write among others",
      head("GET /a") + head("POST /b", "Content-Length: 2") + "hi" + head("GET /c"),
      ["200 GET /a ", "200 POST /b hi", "200 GET /c "]),
    Self("length 0", head("PUT /a", "Content-Length: 0"), ["200 PUT /a "]),
    Self("length, collected", head("PUT /a", "Content-Length: 5") + "hello", ["200 PUT /a hello"]),
    Self(
      "length, discarded", head("PUT /discard", "Content-Length: 5") + "hello",
      ["200 PUT /discard "]),
    Self(
      "length, streamed", head("PUT /stream", "Content-Length: 20") + "hellohellohellohello",
      ["200 PUT /stream hellohellohellohello"]),
    Self(
      "as long as the stream's buffer",
      head("PUT /stream", "Content-Length: 16")
        + "0123456789abcdef", ["200 PUT /stream 0123456789abcdef"]),
    Self(
      "chunked, collected",
      head("PUT /a", "Transfer-Encoding: chunked") + "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
      ["200 PUT /a hello"]),
    Self(
      "chunked, with extensions and trailers",
      head("PUT /a", "Transfer-Encoding: chunked")
        + "3;a=b\r\nhel\r\n2;c=\"d\"\r\nlo\r\n0;e\r\nX-Sum: 1\r\nY: 2\r\n\r\n",
      ["200 PUT /a hello +X-Sum=1 +Y=2"]),
    Self(
      "chunked, empty, discarded",
      head("PUT /discard", "Transfer-Encoding: chunked") + "0\r\n\r\n", ["200 PUT /discard "]),
    Self(
      "chunked, streamed",
      head("PUT /stream", "Transfer-Encoding: chunked")
        + "3\r\nhel\r\n10\r\n0123456789abcdef\r\n1\r\nx\r\n0\r\n\r\n",
      ["200 PUT /stream hel0123456789abcdefx"]),
    Self(
      "chunked, streamed, empty",
      head("PUT /stream", "Transfer-Encoding: chunked")
        + "0\r\n\r\n", ["200 PUT /stream "]),
    Self(
      "expects to be told",
      head("PUT /a", "Expect: 100-continue", "Content-Length: 5")
        + "hello", ["200 PUT /a hello"]),
    Self(
      "expects to be told, streamed",
      head("PUT /stream", "Expect: 100-continue", "Content-Length: 5") + "hello",
      ["200 PUT /stream hello"]),
    Self("HTTP/1.0, kept", "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", ["200 GET /a "]),
  ]

  static let ended = [
    Self("HTTP/1.0", "GET /a HTTP/1.0\r\n\r\n", ["200 GET /a "], isKept: false),
    Self("close", head("GET /a", "Connection: close"), ["200 GET /a "], isKept: false),
    Self(
      "close, collected", head("PUT /a", "Connection: close", "Content-Length: 2") + "hi",
      ["200 PUT /a hi"], isKept: false),
    Self(
      "close, streamed", head("PUT /stream", "Connection: close", "Content-Length: 2") + "hi",
      ["200 PUT /stream hi"], isKept: false),
    Self(
      "answered before the body", head("PUT /early", "Content-Length: 5") + "hello",
      ["200 PUT /early "], isKept: false),
    Self(
      "too long to be thrown away",
      head("PUT /discard", "Content-Length: 101") + String(repeating: "x", count: 101),
      ["200 PUT /discard "], isKept: false),
    Self(
      "chunks too long to be thrown away",
      head("PUT /discard", "Transfer-Encoding: chunked") + "65\r\n"
        + String(repeating: "x", count: 101), ["200 PUT /discard "], isKept: false),
  ]

  static let refusedHeads = [
    refused("a first byte that is none", "{", 400),
    refused("a bare line feed", "GET / HTTP/1.1\n", 400),
    refused("a method that is none", "G{T / HTTP/1.1\r\n", 400),
    refused("a method of others", head("BREW /"), 501),
    refused("CONNECT", head("CONNECT a:1"), 501),
    refused("a target that is none", head("GET a"), 400),
    refused("a version that is none", "GET / HTTP/x\r\n", 400),
    refused("another version", "GET / HTTP/2.0\r\n", 505),
    refused("a long line", "GET /" + String(repeating: "a", count: 9000), 414),
    refused("no host", "GET / HTTP/1.1\r\n\r\n", 400),
    refused("two hosts", head("GET /", "Host: b"), 400),
    refused("a folded line", head("GET /", " a"), 400),
    refused("a space before the colon", head("GET /", "A : b"), 400),
    refused("no colon", head("GET /", "A"), 400),
    refused("a control character", head("GET /", "A: \u{1}"), 400),
    refused("large fields", head("GET /", "A: " + String(repeating: "a", count: 17_000)), 431),
    refused("two lengths", head("PUT /", "Content-Length: 1", "Content-Length: 1"), 400),
    refused("a length that is none", head("PUT /", "Content-Length: x"), 400),
    refused("two framings", head("PUT /", "Content-Length: 1", "Transfer-Encoding: chunked"), 400),
    refused("another coding", head("PUT /", "Transfer-Encoding: gzip, chunked"), 501),
    refused("another expectation", head("GET /", "Expect: more"), 417),
    Self(
      "refused behind others", head("GET /a") + "x y\r\n", ["200 GET /a ", "400"],
      isKept: false),
  ]

  static let refusedBodies = ["/a", "/stream"].flatMap { path in
    let chunked = head("PUT \(path)", "Transfer-Encoding: chunked")
    return [
      refused("\(path), too long", head("PUT \(path)", "Content-Length: 1001"), 413),
      refused("\(path), chunks too long", chunked + "3e9\r\n", 413),
      refused("\(path), a chunk size that is none", chunked + "3\r\nabc\r\nx\r\n", 400),
      refused("\(path), a chunk that does not end", chunked + "3\r\nabcd\r\n", 400),
      refused("\(path), an extension that is none", chunked + "3;=\r\n", 400),
      refused("\(path), a trailer that is none", chunked + "1\r\na\r\n0\r\nA\r\n", 400),
      refused("\(path), a trailer too late", chunked + "0\r\nHost: a\r\n\r\n", 400),
    ]
  }
}
