import Foundation
import Testing

@testable import Observability

struct RequestLineTests {
  static let line = RequestLine(
    method: "GET", path: "/v1/items/7", route: "/v1/items/{id}", status: 200, bytes: 18432,
    microseconds: 412, requestID: "abc-1", client: "127.0.0.1")

  static func written(_ line: RequestLine, _ format: LogFormat) throws -> String {
    let file = LogFile(format)
    file.sink.append(line, nanosecondsSince1970: LogFile.time)
    return try file.text()
  }

  @Test func `a request is a line of text`() throws {
    let expected =
      "2026-11-21T05:19:46.123Z info  GET /v1/items/7 200 18432 B 412 µs "
      + "route=/v1/items/{id} client=127.0.0.1 requestID=abc-1\n"
    #expect(try Self.written(Self.line, .text) == expected)
  }

  @Test func `a request is an object of JSON`() throws {
    let expected =
      #"{"time":"2026-11-21T05:19:46.123Z","level":"info","logger":"lookahead","#
      + #""message":"request","method":"GET","path":"/v1/items/7","route":"/v1/items/{id}","#
      + #""status":200,"bytes":18432,"microseconds":412,"client":"127.0.0.1","#
      + "\"requestID\":\"abc-1\"}\n"
    #expect(try Self.written(Self.line, .json) == expected)
  }

  @Test(arguments: LogFormat.allCases)
  func `no text of a request starts a line or an escape sequence`(_ format: LogFormat) throws {
    var line = Self.line
    line.method = "GET\n"
    line.path = "/a b\" \u{1b}[2J\u{9b}"
    line.requestID = "\r\nx=y"
    line.client = ""
    let text = try Self.written(line, format)
    #expect(text.utf8.filter { $0 < 0x20 } == [0x0a])
    #expect(text.contains(#""/a b\" \u001b[2J\u009b""#))
    #expect(text.contains(#""\r\nx=y""#))
  }

  @Test func `each character of ASCII comes back from JSON, and none controls a terminal`() throws {
    for character in (UInt8.min...0x7f).map({ String(UnicodeScalar($0)) }) {
      var line = Self.line
      line.path = "/a\(character)b"
      let written = try Self.written(line, .json)
      #expect(written.dropLast().utf8.allSatisfy { (0x20..<0x7f).contains($0) })
      let object = try JSONSerialization.jsonObject(with: Data(written.utf8)) as? [String: Any]
      #expect(object?["path"] as? String == line.path)
    }
  }

  static let cuts: [(path: String, text: String)] = [
    (String(repeating: "a", count: 200), String(repeating: "a", count: 200)),
    (String(repeating: "a", count: 201), String(repeating: "a", count: 200) + "…"),
    // Two and three bytes a character: the 200th byte is within one.
    ("/" + String(repeating: "é", count: 200), "/" + String(repeating: "é", count: 99) + "…"),
    (String(repeating: "€", count: 100), String(repeating: "€", count: 66) + "…"),
    (
      "\u{e9}" + String(repeating: "\\", count: 300),
      "é" + String(repeating: #"\\"#, count: 198) + "…"
    ),
  ]

  @Test(arguments: cuts)
  func `a long text is cut between two characters`(_ path: String, _ text: String) throws {
    var line = Self.line
    line.path = path
    let json = try Self.written(line, .json)
    #expect(json.contains("\"path\":\"\(text)\",\"route\""))
    let word = text.contains("\\") ? "\"\(text)\"" : text
    #expect(try Self.written(line, .text).contains(" info  GET \(word) 200 "))
  }
}
