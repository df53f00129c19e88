import HTTP
import Testing

struct MessagePartsTests {
  @Test func `fields keep their order, their case and their repetitions`() {
    var fields: Fields = ["A": "1", "b": "2", "a": "3"]
    #expect(fields["a"] == "1" && fields.values(of: "A") == ["1", "3"])
    #expect(fields.combined("a") == "1, 3" && fields["c"] == nil && fields.contains("B"))
    fields.set("A", "4")
    #expect(fields.map(\.name) == ["b", "A"] && fields == ["B": "2", "a": "4"])
  }

  /// A look-up first asks whether any name has that length; all from 63 bytes on are alike.
  @Test func `a field is found whatever the length of its name`() {
    var all = Fields()
    for length in 1...130 {
      let name = String(repeating: "n", count: length)
      #expect(!all.contains(name) && all.combined(name) == nil)
      all.append(name, "\(length)")
      #expect(all[name.uppercased()] == "\(length)" && !all.contains(name + "n"))
      let copied = all.prefix(length - 1)
      #expect(!copied.contains(name) && all.prefix(length).contains(name))
      var others: Fields = ["a": "0"]
      others.append(all)
      others.remove("a")
      #expect(others[name] == "\(length)" && others["a"] == nil)
    }
  }

  @Test func `a value cannot split a response`() {
    let fields: Fields = ["X": "a\r\nSet-Cookie: b\0c"]
    #expect(fields["X"] == "a  Set-Cookie: b c")
  }

  @Test func `a response head is written with what the server adds`() {
    var fields: Fields = ["A": "1", "ETag": "\"a\"", "a": "2"]
    fields.remove("A")
    fields.append(["B": "c\r\nd"])
    let head = ResponseHead(status: .ok, fields: fields, contentLength: 1205)
    var bytes: [UInt8] = []
    head.writeStart(to: &bytes)
    ResponseHead.writeEnd(
      to: &bytes, persistence: .closed, dateLine: ResponseHead.dateLine(secondsSince1970: 0),
      requestID: "r")
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nB: c  d\r\nContent-Length: 1205\r\n"
        + "Connection: close\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nX-Request-Id: r\r\n\r\n")
    #expect(fields["b"] == "c  d" && fields.count == 2)
  }

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
    (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
  ])
  func `a date is written as IMF-fixdate`(_ seconds: Int, _ text: String) {
    #expect(HTTPDate.format(secondsSince1970: seconds) == text)
  }

  @Test(arguments: [
    ("a", true), ("A-z.0_~+/=@", true), ("a:b", false), ("", false), ("a b", false),
    ("\u{e4}", false),
    (String(repeating: "a", count: 128), true), (String(repeating: "a", count: 129), false),
  ])
  func `a request id is of few characters and short`(_ id: String, _ isWellFormed: Bool) {
    #expect(RequestID.isWellFormed(id) == isWellFormed)
  }
}
