/// A response to a range request, as curl prints it: its heads and its body.
struct RangeAnswer {
  let status: Int
  /// The fields by name in lower case.
  private let fields: [String: [String]]
  let body: ArraySlice<UInt8>

  private static let headBytes = 65_536

  /// Parses the output of curl.
  ///
  /// - Throws: `RemoteError.badAnswer`.
  init(_ bytes: [UInt8]) throws(RemoteError) {
    var rest = bytes[...]
    while true {
      guard let end = Self.endOfHead(rest) else { throw .badAnswer("its head has no end") }
      let lines = String(decoding: rest[..<end], as: UTF8.self)
        .split(separator: "\r\n", omittingEmptySubsequences: true)
      rest = rest[end...]
      let words = lines.first?.split(separator: " ") ?? []
      guard words.count >= 2, words[0].hasPrefix("HTTP/"), words[1].utf8.count == 3,
        let status = Int(words[1])
      else { throw .badAnswer("it has no status") }
      // Interim responses (RFC 9110 section 15.2).
      if (100..<200).contains(status) { continue }
      var fields: [String: [String]] = [:]
      for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":") else { throw .badAnswer("a field has no colon") }
        let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        let end = value.lastIndex { $0 != " " && $0 != "\t" }
        fields[line[..<colon].lowercased(), default: []].append(
          end.map { String(value[...$0]) } ?? "")
      }
      (self.status, self.fields, body) = (status, fields, rest)
      return
    }
  }

  private static func endOfHead(_ bytes: ArraySlice<UInt8>) -> Int? {
    let end = Array("\r\n\r\n".utf8)
    guard let found = bytes.prefix(headBytes).firstRange(of: end) else { return nil }
    return found.upperBound
  }

  /// Returns the single value of a field; nil if it is absent.
  func field(_ name: String) throws(RemoteError) -> String? {
    let values = fields[name] ?? []
    guard values.count <= 1 else { throw .badAnswer("the field \(name) occurs twice") }
    return values.first
  }

  /// Parses `bytes 0-65535/1055836` (RFC 9110 section 14.4): the range, and the size of the whole.
  func contentRange() throws(RemoteError) -> (range: Range<Int>, size: Int) {
    let malformed = RemoteError.badAnswer("its Content-Range is malformed")
    guard let text = try field("content-range"),
      let match = text.wholeMatch(
        of: /[Bb][Yy][Tt][Ee][Ss] ([0-9]{1,18})-([0-9]{1,18})\/([0-9]{1,18})/)
    else { throw malformed }
    guard let first = Int(match.output.1), let last = Int(match.output.2),
      let size = Int(match.output.3), first <= last, last < size
    else { throw malformed }
    return (first..<last + 1, size)
  }
}
