import CCurl
import Glibc
import System

/// Sends requests with libcurl, over persistent connections. The number of requests in flight is limited;
/// others wait for a while.
///
/// The sending thread waits for the answer. A file is read piece by piece as it is sent, so that a request
/// holds no more memory than its answer, which has a limit.
final class StoreTransport: Sendable {
  /// The body of a request.
  enum Body: Sendable {
    case none
    case bytes([UInt8])
    case file(OpenFile, Range<Int>)

    var count: Int {
      switch self {
      case .none: 0
      case .bytes(let bytes): bytes.count
      case .file(_, let range): range.count
      }
    }

    /// Up to `count` bytes of the body, from an offset on.
    func bytes(at offset: Int, atMost count: Int) throws(SystemError) -> [UInt8] {
      let count = Swift.min(count, self.count - offset)
      guard count > 0 else { return [] }
      switch self {
      case .none: return []
      case .bytes(let bytes): return Array(bytes[offset..<offset + count])
      case .file(let file, let range):
        return try file.read(at: range.lowerBound + offset, count: count)
      }
    }
  }

  struct Request: Sendable {
    var method: String
    var url: String
    var fields: [(name: String, value: String)]
    var body = Body.none
  }

  struct Limits: Sendable {
    /// The maximum size of an answer's body.
    var answerBytes: Int
    var timeMilliseconds: Int
    /// The maximum time without a byte in either direction.
    var stallSeconds: Int
  }

  /// Why a request has no answer.
  enum Failure: Error, Sendable {
    /// The request failed, and may be retried; the value is a clause.
    case failed(String)
    case tooLong
    case cancelled
  }

  private struct Pool {
    var idle: [CurlHandle] = []
    var busy = 0
  }

  /// Initializes libcurl once in a process, before any thread uses it.
  private static let isUsable = lookahead_curl_start() == CURLE_OK

  private let pool = Monitor(Pool())
  private let connections: Int
  private let waitMilliseconds: Int

  /// - Parameters:
  ///   - connections: the maximum number of requests in flight.
  ///   - waitMilliseconds: the maximum time that a request waits for its turn.
  init(connections: Int, waitMilliseconds: Int) {
    self.connections = connections
    self.waitMilliseconds = waitMilliseconds
  }

  /// The number of requests in flight.
  var busyCount: Int { pool.withLock { $0.busy } }

  /// Sends a request, and waits for its answer.
  ///
  /// - Parameter file: the file for the body of a successful answer; nil keeps the body in the answer.
  func send(
    _ request: Request, _ limits: Limits, into file: Descriptor?, _ cancellation: Cancellation
  ) throws(Failure) -> StoreAnswer {
    guard Self.isUsable else { throw .failed("libcurl cannot be used") }
    let taken: CurlHandle?? = pool.wait(atMostMilliseconds: waitMilliseconds) { pool in
      guard pool.busy < connections else { return nil }
      pool.busy += 1
      return .some(pool.idle.popLast())
    }
    guard let taken else {
      throw .failed("\(connections) requests are in flight, and none finished in time")
    }
    let handle = taken ?? CurlHandle()
    defer {
      pool.withLock { pool in
        pool.busy -= 1
        if let handle { pool.idle.append(handle) }
      }
      pool.notify()
    }
    guard let handle else { throw .failed("libcurl cannot be used") }
    return try handle.send(request, limits, into: file, cancellation)
  }
}

/// An easy handle of libcurl, with the connection that it keeps.
///
/// `@unchecked Sendable`: the thread that takes it out of the pool has exclusive access until it puts it
/// back, both under the pool's lock.
private final class CurlHandle: @unchecked Sendable {
  private let curl: UnsafeMutableRawPointer
  private let errors = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  init?() {
    guard let curl = curl_easy_init() else { return nil }
    self.curl = curl
  }

  deinit {
    curl_easy_cleanup(curl)
    errors.deallocate()
  }

  private static let connectMilliseconds = 5_000

  func send(
    _ request: StoreTransport.Request, _ limits: StoreTransport.Limits, into file: Descriptor?,
    _ cancellation: Cancellation
  ) throws(StoreTransport.Failure) -> StoreAnswer {
    let exchange = CurlExchange(request.body, limits.answerBytes, file, cancellation)
    // Resets the options of the last request, and keeps its connection.
    curl_easy_reset(curl)
    errors.pointee = 0
    lookahead_curl_errors(curl, errors)
    lookahead_curl_text(curl, CURLOPT_URL, request.url)
    // No proxy, no other protocol, no redirection, and no signals, as the process has threads.
    lookahead_curl_text(curl, CURLOPT_PROTOCOLS_STR, "http,https")
    lookahead_curl_text(curl, CURLOPT_NOPROXY, "*")
    lookahead_curl_text(curl, CURLOPT_USERAGENT, "lookahead")
    lookahead_curl_number(curl, CURLOPT_NOSIGNAL, 1)
    lookahead_curl_number(curl, CURLOPT_PATH_AS_IS, 1)
    lookahead_curl_number(curl, CURLOPT_TCP_NODELAY, 1)
    lookahead_curl_number(curl, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    lookahead_curl_number(
      curl, CURLOPT_CONNECTTIMEOUT_MS, min(Self.connectMilliseconds, limits.timeMilliseconds))
    lookahead_curl_number(curl, CURLOPT_TIMEOUT_MS, limits.timeMilliseconds)
    lookahead_curl_number(curl, CURLOPT_LOW_SPEED_LIMIT, 1)
    lookahead_curl_number(curl, CURLOPT_LOW_SPEED_TIME, max(1, limits.stallSeconds))
    switch (request.method, request.body) {
    case ("HEAD", _): lookahead_curl_number(curl, CURLOPT_NOBODY, 1)
    case ("GET", .none): lookahead_curl_number(curl, CURLOPT_HTTPGET, 1)
    case (let method, .none): lookahead_curl_text(curl, CURLOPT_CUSTOMREQUEST, method)
    case (let method, let body):
      lookahead_curl_number(curl, CURLOPT_UPLOAD, 1)
      lookahead_curl_text(curl, CURLOPT_CUSTOMREQUEST, method)
      lookahead_curl_size(curl, CURLOPT_INFILESIZE_LARGE, Int64(body.count))
    }
    var fields: UnsafeMutablePointer<curl_slist>?
    defer { curl_slist_free_all(fields) }
    // Both remove a field of libcurl's: with `Expect` it would wait a second for stores that ignore that;
    // POST would get the type of a form.
    for line in ["Expect:", "Content-Type:"] + request.fields.map({ "\($0.name): \($0.value)" }) {
      if line == "Content-Type:", request.fields.contains(where: { $0.name == "content-type" }) {
        continue
      }
      fields = curl_slist_append(fields, line)
    }
    lookahead_curl_fields(curl, fields)
    // A PUT or POST without a body needs a length.
    if case .none = request.body, request.method == "POST" || request.method == "PUT" {
      fields = curl_slist_append(fields, "Content-Length: 0")
      lookahead_curl_fields(curl, fields)
    }
    let code = withExtendedLifetime(exchange) {
      lookahead_curl_callbacks(
        curl, onHead, onBody, onUpload, onSeek, onProgress,
        Unmanaged.passUnretained(exchange).toOpaque())
      return curl_easy_perform(curl)
    }
    if code == CURLE_OK, exchange.hasHead, let answer = exchange.answer { return answer }
    if cancellation.isCancelled { throw .cancelled }
    if exchange.isTooLong { throw .tooLong }
    if let problem = exchange.problem { throw .failed(problem.description) }
    // libcurl accepts a head that is cut short by the end of the connection.
    guard code != CURLE_OK else { throw .failed("the head of the answer is incomplete") }
    let said = String(cString: errors)
    throw .failed(
      said.isEmpty ? curl_easy_strerror(code).map { String(cString: $0) } ?? "\(code)" : said)
  }
}

/// The state of one request for the callbacks of libcurl, which run on the thread that performs it.
private final class CurlExchange {
  private let body: StoreTransport.Body
  private var sent = 0
  private let answerBytes: Int
  private let file: Descriptor?
  private let cancellation: Cancellation
  private(set) var answer: StoreAnswer?
  /// Whether the answer has all of its fields.
  private(set) var hasHead = false
  private var received = 0
  private(set) var isTooLong = false
  private(set) var problem: SystemError?

  /// The maximum number of bytes that are read of a refusal's text.
  private static let refusalBytes = 1 << 16

  init(
    _ body: StoreTransport.Body, _ answerBytes: Int, _ file: Descriptor?,
    _ cancellation: Cancellation
  ) {
    self.body = body
    self.answerBytes = answerBytes
    self.file = file
    self.cancellation = cancellation
  }

  static func of(_ user: UnsafeMutableRawPointer?) -> CurlExchange? {
    user.map { Unmanaged<CurlExchange>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Parses a line of a head.
  func head(_ line: UnsafeRawBufferPointer) -> Bool {
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      let status = text.split(separator: " ").dropFirst().first.flatMap {
        Int($0.prefix { $0.isNumber })
      }
      guard let status else { return false }
      // After interim answers, only the last answer's fields count.
      answer = StoreAnswer(status: status)
      hasHead = false
    } else if text == "\r\n" || text == "\n" {
      hasHead = true
    } else {
      answer?.add(line: text)
    }
    return true
  }

  func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let status = answer?.status else { return false }
    let isSuccess = (200..<300).contains(status)
    received += bytes.count
    guard received <= (isSuccess ? answerBytes : max(answerBytes, Self.refusalBytes)) else {
      isTooLong = true
      return false
    }
    guard isSuccess, let file else {
      answer?.body.append(contentsOf: bytes)
      return true
    }
    do throws(SystemError) {
      try file.write(Array(bytes)[...], at: received - bytes.count)
      return true
    } catch {
      problem = error
      return false
    }
  }

  /// Fills a buffer with the next bytes of the body; nil if they cannot be read.
  func upload(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
    do throws(SystemError) {
      let piece = try body.bytes(at: sent, atMost: buffer.count)
      sent += piece.count
      buffer.copyBytes(from: piece)
      return piece.count
    } catch {
      problem = error
      return nil
    }
  }

  func seek(_ offset: Int) -> Bool {
    guard (0...body.count).contains(offset) else { return false }
    sent = offset
    return true
  }

  var isCancelled: Bool { cancellation.isCancelled }
}

private let onHead: lookahead_curl_bytes = { bytes, size, count, user in
  let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
  return CurlExchange.of(user)?.head(line) == true ? size * count : 0
}

private let onBody: lookahead_curl_bytes = { bytes, size, count, user in
  let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
  return CurlExchange.of(user)?.receive(piece) == true ? size * count : 0
}

private let onUpload: lookahead_curl_bytes = { bytes, size, count, user in
  let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
  return CurlExchange.of(user)?.upload(buffer) ?? Int(CURL_READFUNC_ABORT)
}

private let onSeek: lookahead_curl_seek = { user, offset, origin in
  guard origin == SEEK_SET, CurlExchange.of(user)?.seek(Int(offset)) == true else {
    return CURL_SEEKFUNC_FAIL
  }
  return CURL_SEEKFUNC_OK
}

private let onProgress: lookahead_curl_progress = { user, _, _, _, _ in
  CurlExchange.of(user)?.isCancelled == true ? 1 : 0
}
