/// What is known of a head (or of a trailer section) while its lines come in.
struct PartialHead: Sendable {
  var method = Method.get
  /// The name of a method that is none of ours: refused when the head is complete, so that the answer
  /// can say the client's request id.
  var unknownMethod: String?
  var target: [UInt8] = []
  var pathEnd = 0
  var minorVersion = 1
  /// The authority of a target in absolute form, which replaces the `Host` field.
  var authority: String?
  var host: String?

  /// Where the first field line starts, as an offset from the start of the message.
  var fieldsStart = 0
  /// Field lines as offsets from `fieldsStart`.
  var entries: [Fields.Entry] = []
  /// The copy of the field lines, once they are complete.
  var bytes: [UInt8] = []

  var contentLength: Int?
  var hasTransferEncoding = false
  var isChunked = false
  var unknownCoding: String?

  /// The client's `X-Request-Id`, where it is well formed.
  var requestID: String?
  var saysClose = false
  var saysKeepAlive = false
  var expectation = Request.Expectation.none

  mutating func takeFields() -> Fields {
    guard !entries.isEmpty else { return Fields() }
    let fields = Fields(bytes: bytes, entries: entries)
    bytes = []
    entries = []
    return fields
  }
}
