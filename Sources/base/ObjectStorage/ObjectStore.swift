import Glibc
import SHA2
import System

/// A bucket of S3, or of a store that speaks its protocol, asked by curl: its key is in no argument of that, only what
/// it signs.
///
/// A request that the store did not answer, or with 500, 502, 503 or 429, is sent again a few times. A larger file goes in
/// parts: it is there as a whole when the last request is answered, or not at all.
package struct ObjectStore: Sendable {
  /// Where the store is, and who asks.
  package struct Settings: Sendable {
    /// `https://s3.eu-central-1.amazonaws.com`, without a slash at its end.
    package var endpoint: String
    /// Which the signature names.
    package var region: String
    /// Whose the bucket is.
    package var credentials: RequestSigner.Credentials
    /// How long one request may take.
    package var requestSeconds = 600
    /// How many bytes go with one request; a file of more goes in parts.
    package var partBytes = 16 << 20

    /// These.
    package init(endpoint: String, region: String, credentials: RequestSigner.Credentials) {
      self.endpoint = endpoint
      self.region = region
      self.credentials = credentials
    }

    /// What the variables say that other programs for S3 read, too.
    ///
    /// - Throws: `ObjectStoreError.setting`.
    package init(environment: [String: String]) throws(ObjectStoreError) {
      func value(_ names: String...) -> String? {
        names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
      }
      guard let accessKey = value("AWS_ACCESS_KEY_ID"),
        let secretKey = value("AWS_SECRET_ACCESS_KEY")
      else {
        throw .setting(
          "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY say whose the bucket is, and are not set")
      }
      region = value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
      var endpoint =
        value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? "https://s3.\(region).amazonaws.com"
      while endpoint.hasSuffix("/") { endpoint.removeLast() }
      guard endpoint.hasPrefix("https://") || endpoint.hasPrefix("http://") else {
        throw .setting("AWS_ENDPOINT_URL: \(endpoint) begins with neither https:// nor http://")
      }
      self.endpoint = endpoint
      credentials = .init(
        accessKey: accessKey, secretKey: secretKey, sessionToken: value("AWS_SESSION_TOKEN"))
    }
  }

  /// An object.
  package struct Object: Sendable, Hashable {
    /// Its name in the bucket.
    package let key: String
    /// Its size.
    package let bytes: Int
    /// When it was written, as the store has it: `2026-11-26T01:02:03.000Z`.
    package let modified: String
  }

  private static let tries = 4
  private static let firstPauseMilliseconds = 500
  /// What an answer without a file may have.
  private static let answerBytes = 4 << 20
  /// How many pages of a list are read.
  private static let listPages = 1_000
  /// How many parts a file may have, as S3 limits it.
  private static let maximumParts = 10_000
  private static let curlMemoryBytes = 1 << 30

  /// Which bucket.
  package let address: ObjectAddress
  private let settings: Settings
  private let signer: RequestSigner
  private let curl: String
  private let host: String
  private let cancellation: Cancellation

  /// - Throws: `ObjectStoreError.withoutCurl`.
  package init(
    _ address: ObjectAddress, _ settings: Settings, cancellation: Cancellation = Cancellation()
  ) throws(ObjectStoreError) {
    guard let curl = ChildProcess.path(ofProgram: "curl") else { throw .withoutCurl }
    self.address = address
    self.settings = settings
    self.curl = curl
    self.cancellation = cancellation
    signer = RequestSigner(settings.credentials, region: settings.region)
    // As curl sends it: without the usual port.
    let isSecure = settings.endpoint.hasPrefix("https://")
    let rest = settings.endpoint.dropFirst(isSecure ? 8 : 7)
    let usual = isSecure ? ":443" : ":80"
    let authority = rest.prefix { $0 != "/" }
    host = String(authority.hasSuffix(usual) ? authority.dropLast(usual.count) : authority)
  }

  // MARK: Objects

  /// The objects below the address, in the order of their keys.
  ///
  /// - Throws: `ObjectStoreError`.
  package func list() throws(ObjectStoreError) -> [Object] {
    var objects: [Object] = []
    var token: String?
    for _ in 0..<Self.listPages {
      var query = [("list-type", "2"), ("prefix", address.prefix)]
      if let token { query.append(("continuation-token", token)) }
      let answer = try ask("GET", key: nil, query: query)
      for element in XMLText.all("Contents", in: answer.body) {
        guard let key = XMLText.first("Key", in: element),
          let bytes = XMLText.first("Size", in: element).flatMap({ Int($0) })
        else { throw .noAnswer("an object has no Key or Size") }
        objects.append(
          Object(
            key: key, bytes: bytes, modified: XMLText.first("LastModified", in: element) ?? ""))
      }
      token = XMLText.first("NextContinuationToken", in: answer.body)
      if token == nil { return objects }
    }
    throw .noAnswer("the list has more than \(Self.listPages) pages")
  }

  /// Takes an object away, if it is there.
  ///
  /// - Throws: `ObjectStoreError`.
  package func delete(_ key: String) throws(ObjectStoreError) {
    _ = try ask("DELETE", key: key)
  }

  /// Puts a file there; it is whole, or not there at all.
  ///
  /// - Parameter scratch: a folder for its parts.
  /// - Throws: `ObjectStoreError`, `SystemError`.
  package func put(_ file: OpenFile, as key: String, scratch: String) throws {
    if file.size <= settings.partBytes {
      _ = try send(file, 0..<file.size, as: key, scratch: scratch)
      return
    }
    let begun = try ask("POST", key: key, query: [("uploads", "")])
    guard let upload = XMLText.first("UploadId", in: begun.body) else {
      throw ObjectStoreError.noAnswer("an upload in parts has no UploadId")
    }
    do {
      try sendParts(of: file, as: key, upload, scratch: scratch)
    } catch {
      // What came costs money as long as it is kept.
      _ = try? ask("DELETE", key: key, query: [("uploadId", upload)])
      throw error
    }
  }

  private func sendParts(
    of file: OpenFile, as key: String, _ upload: String, scratch: String
  ) throws {
    let partBytes = max(
      settings.partBytes, (file.size + Self.maximumParts - 1) / Self.maximumParts)
    var parts = ""
    var offset = 0
    var number = 1
    while offset < file.size {
      let range = offset..<min(file.size, offset + partBytes)
      let answer = try send(
        file, range, as: key, query: [("partNumber", "\(number)"), ("uploadId", upload)],
        scratch: scratch)
      guard let tag = answer["etag"] else {
        throw ObjectStoreError.noAnswer("a part has no ETag")
      }
      parts +=
        "<Part><PartNumber>\(number)</PartNumber><ETag>\(XMLText.escaped(tag))</ETag></Part>"
      offset = range.upperBound
      number += 1
    }
    let document = Array("<CompleteMultipartUpload>\(parts)</CompleteMultipartUpload>".utf8)
    let done = try ask(
      "POST", key: key, query: [("uploadId", upload)], body: document, scratch: scratch)
    // It may be found only after 200 was sent that it failed.
    if done.body.contains("<Error>") { throw done.refusal }
  }

  private func send(
    _ file: OpenFile, _ range: Range<Int>, as key: String, query: [(String, String)] = [],
    scratch: String
  ) throws -> StoreAnswer {
    let bytes = try file.read(at: range.lowerBound, count: range.count)
    guard bytes.count == range.count else {
      throw ObjectStoreError.otherLength(key: key, expected: range.count, found: bytes.count)
    }
    return try ask("PUT", key: key, query: query, body: bytes, scratch: scratch)
  }

  /// Takes an object out, into a file that is empty.
  ///
  /// - Throws: `ObjectStoreError`, `SystemError`.
  package func get(_ object: Object, into file: Descriptor) throws {
    try trying { () throws(ObjectStoreError) -> Void? in
      let request = request("GET", key: object.key, query: [], body: [])
      // Written anew by each try.
      let outcome = try run(
        arguments(for: request) + ["--fail"], input: nil, output: file,
        outputBytes: max(object.bytes, 1))
      switch outcome.end {
      case .exited(0): return ()
      // 22: the store refused; its status stands in what curl says.
      case .exited(22):
        let words = Self.words(outcome.errors)
        guard ["500", "502", "503", "429"].contains(where: words.hasSuffix) else {
          throw .failed(words)
        }
        lastWords.withLock { $0 = words }
        return nil
      case .exited(let status):
        lastWords.withLock { $0 = Self.words(outcome.errors, status) }
        return nil
      case .timedOut:
        lastWords.withLock { $0 = "no answer in \(settings.requestSeconds) seconds" }
        return nil
      case .cancelled: throw .cancelled
      case .signalled, .wroteTooMuch: throw .failed("more than \(object.bytes) bytes came")
      }
    }
    let found = try file.status.bytes
    guard found == object.bytes else {
      throw ObjectStoreError.otherLength(key: object.key, expected: object.bytes, found: found)
    }
  }

  // MARK: Requests

  private func request(
    _ method: String, key: String?, query: [(String, String)], body: [UInt8]
  ) -> RequestSigner.Request {
    let base = settings.endpoint.dropFirst(settings.endpoint.hasPrefix("https://") ? 8 : 7)
      .drop { $0 != "/" }
    let path = RequestSigner.path("\(base)/\(address.bucket)" + (key.map { "/\($0)" } ?? ""))
    return .init(
      method: method, host: host, path: path, query: query.map { ($0.0, $0.1) },
      bodyDigest: SHA256.hash(body))
  }

  /// Sends a request, again where that may help.
  private func ask(
    _ method: String, key: String?, query: [(String, String)] = [], body: [UInt8]? = nil,
    scratch: String? = nil
  ) throws(ObjectStoreError) -> StoreAnswer {
    var input: OpenFile?
    if let body, let scratch {
      do throws(SystemError) {
        let file = try ScratchFile(folder: scratch)
        try file.write(body, at: 0)
        input = OpenFile(file.descriptor)
      } catch {
        throw .failed(error.description)
      }
    }
    let request = request(method, key: key, query: query, body: body ?? [])
    return try trying { () throws(ObjectStoreError) -> StoreAnswer? in
      var more = ["--include", "--request", method]
      if input != nil { more += ["--upload-file", "/dev/fd/0", "--header", "Expect:"] }
      let outcome = try run(
        arguments(for: request) + more, input: input, output: nil, outputBytes: Self.answerBytes)
      switch outcome.end {
      case .exited(0): break
      case .exited(let status):
        lastWords.withLock { $0 = Self.words(outcome.errors, status) }
        return nil
      case .timedOut:
        lastWords.withLock { $0 = "no answer in \(settings.requestSeconds) seconds" }
        return nil
      case .cancelled: throw .cancelled
      case .signalled(let signal): throw .failed("curl was ended by signal \(signal)")
      case .wroteTooMuch: throw .noAnswer("it has more than \(Self.answerBytes) bytes")
      }
      let answer = try StoreAnswer(outcome.output)
      if [500, 502, 503, 429].contains(answer.status) {
        lastWords.withLock { $0 = "\(answer.refusal)" }
        return nil
      }
      guard (200..<300).contains(answer.status) else { throw answer.refusal }
      return answer
    }
  }

  /// Why the last try came to nothing.
  private let lastWords = Monitor("")

  private func trying<Result>(
    _ attempt: () throws(ObjectStoreError) -> Result?
  ) throws(ObjectStoreError) -> Result {
    var pause = Self.firstPauseMilliseconds
    for number in 1...Self.tries {
      if cancellation.isCancelled { throw .cancelled }
      if let result = try attempt() { return result }
      guard number < Self.tries else { break }
      CurrentThread.rest(nanoseconds: UInt64(pause) * 1_000_000)
      pause *= 2
    }
    throw .failed("\(Self.tries) times; \(lastWords.withLock { $0 })")
  }

  private func arguments(for request: RequestSigner.Request) -> [String] {
    var arguments = [
      "-q", "--silent", "--show-error", "--globoff", "--path-as-is", "--proto", "=http,https",
      "--noproxy", "*", "--max-redirs", "0", "--http1.1", "--connect-timeout", "10",
      "--user-agent", "lookahead",
    ]
    let fields = signer.fields(of: request, secondsSince1970: WallClock.secondsSince1970)
    for (name, value) in fields { arguments += ["--header", "\(name): \(value)"] }
    let query = RequestSigner.query(request.query)
    let isSecure = settings.endpoint.hasPrefix("https://")
    return arguments + [
      "--url",
      "\(isSecure ? "https" : "http")://\(host)\(request.path)\(query.isEmpty ? "" : "?\(query)")",
    ]
  }

  private func run(
    _ arguments: [String], input: OpenFile?, output: Descriptor?, outputBytes: Int
  ) throws(ObjectStoreError) -> ChildProcess.Outcome {
    do throws(SystemError) {
      return try ChildProcess(
        path: curl, arguments: arguments, environment: ["LC_ALL=C"],
        limits: .init(
          timeMilliseconds: settings.requestSeconds * 1000, memoryBytes: Self.curlMemoryBytes,
          outputBytes: outputBytes),
        hasNetwork: true
      ).run(input: input, output: output, cancellation: cancellation)
    } catch {
      throw .failed(error.description)
    }
  }

  /// `curl: (7) Failed to connect to …`, without who says it.
  private static func words(_ errors: [UInt8], _ status: Int32? = nil) -> String {
    let line = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).first
    guard let line else { return status.map { "curl ended with status \($0)" } ?? "" }
    let words = line.firstRange(of: ") ").map { line[$0.upperBound...] } ?? line
    return String(words.prefix(200))
  }
}
