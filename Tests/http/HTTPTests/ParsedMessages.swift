import HTTP

/// What a parser makes of bytes that come in some pieces: one line a message, and at last the
/// error.
func parsed(_ pieces: [[UInt8]], limits: MessageLimits = MessageLimits()) -> [String] {
  var parser = RequestParser(limits: limits)
  var buffer: [UInt8] = []
  var results: [String] = []
  var current = ""
  for piece in pieces {
    buffer += piece
    var position = 0
    reading: while true {
      switch parser.next(buffer.span, &position) {
      case .needMoreBytes: break reading
      case .head: current = parser.takeRequest().map { summary(of: $0) + " |" } ?? "no request"
      case .body(let range):
        for byte in buffer[range] { current.unicodeScalars.append(Unicode.Scalar(byte)) }
      case .end(let trailers):
        for trailer in trailers { current += " +\(trailer.name)=\(trailer.value)" }
        results.append(current)
        current = ""
      case .failed(let error):
        return results + ["\(error.status.code) \(error)"]
      }
    }
    buffer.removeFirst(position)
  }
  return parser.isInsideMessage ? results + ["incomplete"] : results
}

func summary(of request: Request) -> String {
  let fields = request.fields.map { " \($0.name)=\($0.value)" }.joined()
  let query = request.query.map { "?\($0)" } ?? ""
  return
    "\(request.method) \(request.path)\(query) 1.\(request.minorVersion) @\(request.host)\(fields)"
}

/// Every way to cut the text in two, the whole, and byte by byte.
func cuts(_ bytes: [UInt8]) -> [[[UInt8]]] {
  [[bytes], bytes.map { [$0] }]
    + bytes.indices.dropFirst().map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
}
