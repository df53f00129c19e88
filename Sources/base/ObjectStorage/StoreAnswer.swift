/// What an object store answers: a head and a body, as `curl --include` writes them.
struct StoreAnswer: Sendable {
  let status: Int
  /// By lower-case names.
  private let fields: [String: String]
  let body: String

  /// - Throws: `ObjectStoreError.noAnswer`.
  init(_ bytes: [UInt8]) throws(ObjectStoreError) {
    var rest = bytes[...]
    while true {
      guard let end = rest.firstRange(of: Array("\r\n\r\n".utf8)) else {
        throw .noAnswer("it has no head")
      }
      let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
      rest = rest[end.upperBound...]
      let lines = head.split(separator: "\r\n")
      guard let status = lines.first?.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
      else { throw .noAnswer("it has no status") }
      // Interim answers come first.
      if status < 200 { continue }
      self.status = status
      var fields: [String: String] = [:]
      for line in lines.dropFirst() {
        let parts = line.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else { continue }
        fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
      }
      self.fields = fields
      body = String(decoding: rest, as: UTF8.self)
      return
    }
  }

  subscript(name: String) -> String? { fields[name] }

  /// Why it refuses, as S3 says it in its XML.
  var refusal: ObjectStoreError {
    .refused(
      status: status, code: XMLText.first("Code", in: body) ?? "",
      message: String((XMLText.first("Message", in: body) ?? "").prefix(300)))
  }
}

/// Elements of the XML that S3 writes, which has no attributes where they are looked for, and no comments.
enum XMLText {
  /// What stands in each element of this name that stands in no other of it.
  static func all(_ name: String, in text: String) -> [String] {
    var found: [String] = []
    var rest = text[...]
    while let start = rest.firstRange(of: "<\(name)>") {
      rest = rest[start.upperBound...]
      guard let end = rest.firstRange(of: "</\(name)>") else { break }
      found.append(String(rest[..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return found
  }

  /// The text of the first element of this name.
  static func first(_ name: String, in text: String) -> String? {
    all(name, in: text).first.map(unescaped)
  }

  private static func unescaped(_ text: String) -> String {
    var text = text
    for (escape, plain) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"),
      ("&#34;", "\""), ("&amp;", "&"),
    ] { text = text.replacing(escape, with: plain) }
    return text
  }

  /// A text as it stands in an element.
  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }
}
