import PrefetchClient

/// Reads the answers of one HTTP/1.1 connection from bytes as they arrive (RFC 9112). Pure.
struct AnswerReader {
  /// The next part of an answer.
  enum Event {
    case head(AnswerPipe.Head)
    case body([UInt8])
    /// The answer is complete; `keeps` says whether the connection can be reused.
    case end(keeps: Bool)
  }

  private enum State {
    case head
    /// The number of remaining bytes of a body with a stated length.
    case counted(Int)
    case untilClosed
    case chunkSize
    case chunk(Int)
    case chunkEnd
    case trailer
    case end
  }

  private var state = State.head
  private var buffer: [UInt8] = []
  private var keeps = true

  /// The maximum size of a head, or of a line in chunked coding.
  static let lineLimitBytes = 65_536

  /// Adds bytes that arrived.
  mutating func append(_ bytes: ArraySlice<UInt8>) { buffer += bytes }

  /// Handles the end of the connection.
  mutating func close() throws(TransportError) -> Event {
    switch state {
    case .untilClosed, .end: return .end(keeps: false)
    default: throw .cut("the connection was closed within an answer")
    }
  }

  /// The next part; `nil` if more bytes are needed.
  mutating func next() throws(TransportError) -> Event? {
    while true {
      switch state {
      case .head:
        guard let lines = try section() else { return nil }
        let head = try read(lines)
        guard let head else { continue }
        return .head(head)
      case .counted(0), .end:
        state = .head
        defer { keeps = true }
        return .end(keeps: keeps)
      case .counted(let rest):
        guard let bytes = take(atMost: rest) else { return nil }
        state = .counted(rest - bytes.count)
        return .body(bytes)
      case .untilClosed: return take(atMost: .max).map { .body($0) }
      case .chunkSize:
        guard let line = try line() else { return nil }
        let digits = line.prefix { $0 != ";" }.trimmingSpaces
        guard !digits.isEmpty, digits.utf8.count <= 12, let size = Int(digits, radix: 16),
          size >= 0
        else { throw .malformed("invalid chunk size \(line)") }
        state = size == 0 ? .trailer : .chunk(size)
      case .chunk(0): state = .chunkEnd
      case .chunk(let rest):
        guard let bytes = take(atMost: rest) else { return nil }
        state = .chunk(rest - bytes.count)
        return .body(bytes)
      case .chunkEnd:
        guard let line = try line() else { return nil }
        guard line.isEmpty else { throw .malformed("a chunk is longer than its size") }
        state = .chunkSize
      case .trailer:
        guard let line = try line() else { return nil }
        if line.isEmpty { state = .end }
      }
    }
  }

  /// Reads a head, and how its body is framed (RFC 9112 section 6.3); `nil` if another head follows.
  private mutating func read(_ lines: [String]) throws(TransportError) -> AnswerPipe.Head? {
    let words = (lines.first ?? "").split(separator: " ", maxSplits: 2)
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3,
      let status = Int(words[1]), status >= 100
    else { throw .malformed("invalid status line \(lines.first ?? "")") }
    var fields: [(name: String, value: String)] = []
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
        throw .malformed("invalid field \(line)")
      }
      fields.append((String(line[..<colon]), String(line[line.index(after: colon)...])))
    }
    if status < 200 { return nil }
    let all = TransportFields(fields)
    let connection = all["connection"]?.lowercased() ?? ""
    keeps = words[0] == "HTTP/1.1" && !connection.contains("close")
    if status == 204 || status == 304 {
      state = .end
    } else if let coding = all["transfer-encoding"] {
      guard coding.lowercased() == "chunked" else {
        throw .malformed("unsupported transfer coding \(coding)")
      }
      state = .chunkSize
    } else if let text = all["content-length"] {
      guard text.utf8.count <= 15, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let length = Int(text)
      else { throw .malformed("invalid Content-Length: \(text)") }
      state = .counted(length)
    } else {
      keeps = false
      state = .untilClosed
    }
    return AnswerPipe.Head(status: status, fields: all)
  }

  // MARK: Bytes

  private mutating func take(atMost count: Int) -> [UInt8]? {
    guard !buffer.isEmpty else { return nil }
    let bytes = Array(buffer.prefix(count))
    buffer.removeFirst(bytes.count)
    return bytes
  }

  /// A line without its end; `nil` if it is incomplete.
  private mutating func line() throws(TransportError) -> String? {
    guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else {
      guard buffer.count <= Self.lineLimitBytes else { throw .malformed("a line is too long") }
      return nil
    }
    let line = buffer[..<end]
    buffer.removeFirst(end + 1)
    let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    return String(decoding: text, as: UTF8.self)
  }

  /// The lines up to an empty one; `nil` if that has not arrived.
  private mutating func section() throws(TransportError) -> [String]? {
    guard buffer.firstRange(of: "\r\n\r\n".utf8) != nil else {
      guard buffer.count <= Self.lineLimitBytes else { throw .malformed("the head is too long") }
      return nil
    }
    var lines: [String] = []
    while let line = try line(), !line.isEmpty { lines.append(line) }
    return lines
  }
}

extension StringProtocol {
  fileprivate var trimmingSpaces: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
