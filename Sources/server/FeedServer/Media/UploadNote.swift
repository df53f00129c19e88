import HTTP
import JSON

/// The note of a resumable upload, stored beside the received bytes: the request that began it, and what the
/// server learned since.
struct UploadNote: Sendable {
  /// The file that the upload became.
  struct Placed: Sendable, Hashable {
    let segments: [String]
    /// The number of bytes that the client sent.
    let bytes: Int
  }

  /// The fields of the first request on which the answer depends.
  private static let fieldNames = [
    "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Repr-Digest",
  ]

  /// The token that created the upload.
  let token: String
  let createdSeconds: Int
  /// The path for the file; `nil` if its content names it.
  let segments: [String]?
  let method: HTTP.Method
  let isFaststart: Bool
  private(set) var fields = Fields()
  /// The size of the whole file, once the client has given it.
  var length: Int?
  /// The file that has got its name, or is about to.
  var placed: Placed?

  /// Creates the note of a request.
  init(_ order: MediaUploads.Order, token: String, createdSeconds: Int, length: Int?) {
    self.token = token
    self.createdSeconds = createdSeconds
    segments = order.segments
    method = order.method
    isFaststart = order.isFaststart
    self.length = length
    for name in Self.fieldNames {
      if let value = order.fields.combined(name) { fields.append(name, value) }
    }
  }

  /// The order of the first request.
  ///
  /// - Throws: `ParameterError` for an invalid digest.
  var order: MediaUploads.Order {
    get throws {
      MediaUploads.Order(
        segments: segments, digests: try DigestFields(fields, ["Repr-Digest"]),
        isFaststart: isFaststart, method: method, fields: fields)
    }
  }

  /// Reads a note; `nil` if it is not in this program's format.
  init?(_ bytes: [UInt8]) {
    guard let root = try? JSONDocument(bytes).root, root.member("version")?.wholeNumber == 1,
      let token = root.member("token")?.text,
      let created = root.member("createdSeconds")?.wholeNumber,
      let method = root.member("method")?.text.flatMap(HTTP.Method.init(rawValue:))
    else { return nil }
    self.token = token
    createdSeconds = created
    self.method = method
    segments = root.member("path").map { $0.elements.compactMap(\.text) }
    isFaststart = root.member("faststart")?.truth ?? false
    length = root.member("length")?.wholeNumber
    if let members = root.member("fields")?.members {
      for member in members {
        if let value = member.value.text { fields.append(member.name, value) }
      }
    }
    if let placed = root.member("placed"), let bytes = placed.member("bytes")?.wholeNumber,
      let path = placed.member("path")
    {
      self.placed = Placed(segments: path.elements.compactMap(\.text), bytes: bytes)
    }
  }

  /// The note as it is stored.
  var json: [UInt8] {
    func path(_ segments: [String], _ writer: inout JSONWriter) {
      writer.array { writer in for segment in segments { writer.string(segment) } }
    }
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("version", 1)
      writer.member("token", token)
      writer.member("createdSeconds", createdSeconds)
      writer.member("method", method.rawValue)
      if let segments {
        writer.key("path")
        path(segments, &writer)
      }
      writer.key("faststart")
      writer.boolean(isFaststart)
      if let length { writer.member("length", length) }
      writer.object("fields") { writer in
        for (name, value) in fields {
          writer.key(text: name)
          writer.string(value)
        }
      }
      if let placed {
        writer.object("placed") { writer in
          writer.member("bytes", placed.bytes)
          writer.key("path")
          path(placed.segments, &writer)
        }
      }
    }
    return writer.bytes
  }
}
