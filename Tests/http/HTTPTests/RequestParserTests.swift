import HTTP
import Testing

struct RequestParserTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let input: String
    let expected: [String]
    var testDescription: String { input.debugDescription }

    init(_ input: String, _ expected: String...) {
      self.input = input
      self.expected = expected
    }
  }

  static let accepted: [Case] = [
    Case("GET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / 1.1 @a Host=a |"),
    Case("GET /a?b HTTP/1.1\r\nhOST:\ta \t\r\n\r\n", "GET /a?b 1.1 @a hOST=a |"),
    Case("GET /a? HTTP/1.2\r\nHost: a:80\r\n\r\n", "GET /a? 1.1 @a:80 Host=a:80 |"),
    Case("GET / HTTP/1.0\r\n\r\n", "GET / 1.0 @ |"),
    Case("GET /\u{e4} HTTP/1.0\r\n\r\n", "GET /\u{e4} 1.0 @ |"),
    Case("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "GET / 1.1 @a Host=a |"),
    Case(
      "GET http://b:8/c?d HTTP/1.1\r\nHost: a\r\n\r\n", "GET /c?d 1.1 @b:8 Host=a |"),
    Case("GET HTTPS://b?d HTTP/1.1\r\nHost: a\r\n\r\n", "GET /?d 1.1 @b Host=a |"),
    Case("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * 1.1 @a Host=a |"),
    Case("OPTIONS http://b HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * 1.1 @b Host=a |"),
    Case("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "GET / 1.1 @[::1]:80 Host=[::1]:80 |"),
    Case("GET / HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n", "GET / 1.1 @a Host=a X= |"),
    Case("GET / HTTP/1.1\r\nHost: a\r\nX: \u{e4} \r\n\r\n", "GET / 1.1 @a Host=a X=\u{e4} |"),
    Case(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 003\r\n\r\nabc",
      "POST / 1.1 @a Host=a Content-Length=003 |abc"),
    Case(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n",
      "POST / 1.1 @a Host=a Content-Length=0 |", "GET / 1.1 @b Host=b |"),
    Case(
      "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: Chunked\r\n\r\n"
        + "5\r\nhello\r\n0C;a;b=c ; d=\"x\\\"y\"\r\n, wide world\r\n000\r\nT: 1\r\nU: 2\r\n\r\n",
      "PUT / 1.1 @a Host=a Transfer-Encoding=Chunked |hello, wide world +T=1 +U=2"),
    Case("GET / HTTP/1.1\r\nHost: a\r\nX: 1", "incomplete"),
    Case("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab", "incomplete"),
    Case("\r\n"),
  ]

  @Test(arguments: accepted)
  func `a message means the same however it is cut`(_ test: Case) {
    for pieces in cuts(Array(test.input.utf8)) {
      #expect(parsed(pieces) == test.expected, "in pieces of \(pieces.map(\.count))")
    }
  }

  @Test(arguments: accepted.filter { $0.expected.last.map { $0 != "incomplete" } ?? false })
  func `the bytes behind a message are the next one`(_ test: Case) {
    let next = "GET /next HTTP/1.1\r\nHost: n\r\n\r\n"
    for pieces in cuts(Array((test.input + next).utf8)) {
      #expect(parsed(pieces) == test.expected + ["GET /next 1.1 @n Host=n |"])
    }
  }

  static let head = "GET / HTTP/1.1\r\nHost: a\r\n"
  static let post = "POST / HTTP/1.1\r\nHost: a\r\n"
  static let chunked = post + "Transfer-Encoding: chunked\r\n\r\n"

  static let refused: [Case] = [
    // The request line.
    Case("GET  / HTTP/1.1\r\n", "400 The request line is not `method SP target SP version`."),
    Case("GET /\r\n", "400 The request line is not `method SP target SP version`."),
    Case("GET\r\n", "400 The request line is not `method SP target SP version`."),
    Case("\u{16}\u{3}\u{1}", "400 The request line is not `method SP target SP version`."),
    Case(" GET / HTTP/1.1\r\n", "400 The request line is not `method SP target SP version`."),
    Case("GE(T / HTTP/1.1\r\n", "400 The method is not a token."),
    Case("GET\t/ HTTP/1.1\r\n", "400 The method is not a token."),
    Case("get / HTTP/1.1\r\nHost: a\r\n\r\n", "501 The method get is not known."),
    Case("PUTS / HTTP/1.1\r\nHost: a\r\n\r\n", "501 The method PUTS is not known."),
    Case("GET / HTTP/2.0\r\n", "505 HTTP/2.0 is not supported."),
    Case("GET / HTTP/0.9\r\n", "505 HTTP/0.9 is not supported."),
    Case("GET / http/1.1\r\n", "400 The version is not `HTTP/` digit `.` digit."),
    Case("GET / HTTP/1.1 \r\n", "400 The version is not `HTTP/` digit `.` digit."),
    Case("GET /a b HTTP/1.1\r\n", "400 The version is not `HTTP/` digit `.` digit."),
    Case("GET /\u{0} HTTP/1.1\r\n", "400 The request target contains a control character."),
    Case("GET /\u{e4} HTTP/1.1\r\n", "400 The request target contains bytes that are not ASCII."),
    Case("GET / HTTP/1.1\n", "400 A line ends with LF alone instead of CRLF."),
    Case("GET /\rX HTTP/1.1\r\n", "400 The request target contains a control character."),
    Case(
      "GET a/b HTTP/1.1\r\n", "400 The request target is neither a path nor an http or https URI."),
    Case("GET http:///a HTTP/1.1\r\n", "400 The request target has a malformed authority."),
    Case("GET http://u@b/ HTTP/1.1\r\n", "400 The request target has a malformed authority."),
    Case(
      "GET * HTTP/1.1\r\n",
      "400 The request target is an asterisk, which is only for OPTIONS."),
    Case("CONNECT a:443 HTTP/1.1\r\n", "501 CONNECT is refused: this is not a proxy."),
    // Field lines.
    Case(head + "X : 1\r\n", "400 There is white space between X and its colon."),
    Case(head + " X: 1\r\n", "400 A header line starts with white space."),
    Case(head + "X: 1\r\n\t2\r\n", "400 A header line starts with white space."),
    Case(head + "X\r\n", "400 A header line has no colon."),
    Case(head + ": 1\r\n", "400 A header field's name is not a token."),
    Case(head + "X[: 1\r\n", "400 A header field's name is not a token."),
    Case(head + "X: 1\n", "400 A line ends with LF alone instead of CRLF."),
    Case(head + "X: 1\r2\r\n", "400 The value of X contains the byte 0xd."),
    Case(head + "X: \u{0}\r\n", "400 The value of X contains the byte 0x0."),
    Case(head + "X: \u{7f}\r\n", "400 The value of X contains the byte 0x7f."),
    Case(head + "Host: a\r\n", "400 The Host field occurs more than once."),
    Case("GET / HTTP/1.1\r\n\r\n", "400 The Host field is missing."),
    Case("GET http://a/ HTTP/1.1\r\n\r\n", "400 The Host field is missing."),
  ]

  static let refusedHosts = [
    "", "a/b", "u@a", "a b", "a,b", "a:b", "a:99999", ":80", "[::1", "[]", "[::1]x", "a%2",
    "\u{e4}", "$(x)", "a..b", ".a", ".", "a.-b", "a-.b", "-", "javascript:", "a:", "a;b", "a%41",
    "*", "a'",
    String(repeating: "a", count: 64), String(repeating: "a", count: 300),
    "a" + String(repeating: ".a", count: 127), "[1]", "[:::]", "[:::1]", "[1::2::3]",
    "[1:2:3:4:5:6:7:8:9]",
    "[1:2:3:4:5:6:7:8::]", "[1:2:3:4:5:6:7]", "[1:2:3:4:5:6:7:]", "[:1:2:3:4:5:6:7:8]", "[12345::]",
    "[::1.2.3]", "[::256.0.0.1]", "[1.2.3.4]", "[::1%25lo]", "[v1.a]", "[::1]:", "::1",
  ]

  static let hosts = [
    "a", "A.Example", "a.example.", "a.", "my_server:8080", "_a", "xn--bcher-kva.example", "1",
    "127.0.0.1",
    "a--b.c-d:65535", String(repeating: "a", count: 63), "a" + String(repeating: ".a", count: 126),
    "a" + String(repeating: ".a", count: 126) + ".:1", "[::]", "[::1]", "[1::]", "[1::8]:0",
    "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[FE80::abcd]",
    "[::ffff:1.2.3.4]",
    "[1:2:3:4:5:6:1.2.3.4]",
  ]

  static let refusedFraming: [Case] = [
    Case(
      post + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "400 Content-Length and Transfer-Encoding exclude each other."),
    Case(
      post + "Content-Length: 1\r\nContent-Length: 1\r\n",
      "400 Content-Length occurs more than once."),
    Case(post + "Content-Length: 1, 1\r\n", "400 Content-Length is not a number: 1, 1"),
    Case(post + "Content-Length: -1\r\n", "400 Content-Length is not a number: -1"),
    Case(post + "Content-Length: +1\r\n", "400 Content-Length is not a number: +1"),
    Case(post + "Content-Length: \r\n", "400 Content-Length is not a number: (empty)"),
    Case(
      post + "Content-Length: 99999999999999999999\r\n",
      "400 Content-Length is not a number: 99999999999999999999"),
    Case(
      post + "Content-Length: 1048577\r\n\r\n",
      "POST / 1.1 @a Host=a Content-Length=1048577 |",
      "413 The body is larger than 1048576 bytes."),
    Case(
      post + "Transfer-Encoding: gzip, chunked\r\n\r\n",
      "501 The transfer coding gzip is not known."),
    Case(
      post + "Transfer-Encoding: identity\r\n\r\n",
      "501 The transfer coding identity is not known."),
    Case(
      post + "Transfer-Encoding: chunked, gzip\r\n",
      "400 Transfer-Encoding must end in one `chunked`: chunked, gzip"),
    Case(
      post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "400 Transfer-Encoding must end in one `chunked`: chunked"),
    Case(
      post + "Transfer-Encoding: \r\n\r\n",
      "400 Transfer-Encoding must end in one `chunked`: (empty)"),
    Case(
      "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
      "400 Transfer-Encoding is not allowed in an HTTP/1.0 message."),
    Case(chunked + "g\r\n", "400 A chunk's size is not a hexadecimal number."),
    Case(chunked + "\r\n", "400 A chunk's size is not a hexadecimal number."),
    Case(chunked + "-1\r\n", "400 A chunk's size is not a hexadecimal number."),
    Case(chunked + "fffffffffffffffff\r\n", "400 A chunk's size is not a hexadecimal number."),
    Case(chunked + "0x5\r\n", "400 A chunk's extensions are malformed."),
    Case(chunked + "5 \r\n", "400 A chunk's extensions are malformed."),
    Case(chunked + "5;\r\n", "400 A chunk's extensions are malformed."),
    Case(chunked + "5;a=\"b\r\n", "400 A chunk's extensions are malformed."),
    Case(chunked + "5\n", "400 A line ends with LF alone instead of CRLF."),
    Case(chunked + "100001\r\n", "413 The body is larger than 1048576 bytes."),
    Case(chunked + "1\r\nab", "400 A chunk's data is not followed by CRLF."),
    Case(chunked + "1\r\na\rb", "400 A chunk's data is not followed by CRLF."),
    Case(chunked + "0\r\nHost: b\r\n", "400 Host cannot be a trailer."),
    Case(chunked + "0\r\nContent-Length: 1\r\n", "400 Content-Length cannot be a trailer."),
    Case(chunked + "0\r\nT : 1\r\n", "400 There is white space between T and its colon."),
  ]

  @Test(arguments: refused + refusedFraming)
  func `a malformed message is refused however it is cut`(_ test: Case) {
    for pieces in cuts(Array((test.input + "\r\nGET /evil HTTP/1.1\r\nHost: a\r\n\r\n").utf8)) {
      let results = parsed(pieces)
      #expect(results.last == test.expected.last, "in pieces of \(pieces.map(\.count))")
      #expect(!results.contains { $0.contains("evil") })
    }
  }

  @Test(arguments: refusedHosts)
  func `a Host field that is no host is refused`(_ host: String) {
    let result = parsed([Array("GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)])
    #expect(result.last?.hasPrefix("400 ") == true)
    #expect(result.count == 1)
    if !host.utf8.contains(where: { "/ ".utf8.contains($0) }) {
      let absolute = parsed([Array("GET http://\(host)/ HTTP/1.1\r\nHost: a\r\n\r\n".utf8)])
      #expect(absolute.last?.hasPrefix("400 ") == true)
    }
  }

  @Test(arguments: hosts)
  func `a host is a name of the DNS or an address`(_ host: String) {
    for target in ["/", "http://\(host)/"] {
      let result = parsed([Array("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n".utf8)])
      #expect(result == ["GET / 1.1 @\(host) Host=\(host) |"])
    }
  }

  @Test(arguments: [
    ("close", false, 1), ("Close", false, 1), ("x, close", false, 1), ("keep-alive", true, 1),
    ("keep-alive, close", false, 1), ("", true, 1), ("keep-alive", true, 0), ("x", false, 0),
  ])
  func `Connection and the version say whether the connection is kept`(
    _ value: String, _ isKept: Bool, _ minor: Int
  ) {
    var parser = RequestParser()
    var position = 0
    let bytes = Array("GET / HTTP/1.\(minor)\r\nHost: a\r\nConnection: \(value)\r\n\r\n".utf8)
    guard case .head = parser.next(bytes.span, &position), let request = parser.takeRequest()
    else {
      Issue.record("no head")
      return
    }
    #expect(request.keepsAlive == isKept)
  }
}
