import CivilTime
import Glibc
import SHA2
import System

/// A bucket of S3, or of a store with the same protocol.
///
/// A request that the store does not answer, or answers with 429 or 5xx, is retried a few times. A larger
/// file is uploaded in parts: the object is there as a whole when the last request is answered, or not at
/// all.
package struct ObjectStore: Sendable {
  /// The endpoint of a store, the credentials, and the limits of requests.
  package struct Settings: Sendable {
    /// The URL of the store without a slash at its end, such as `https://s3.eu-central-1.amazonaws.com`.
    package var endpoint: String
    /// The region, which the signature names.
    package var region: String
    /// The credentials that sign requests.
    package var credentials: RequestSigner.Credentials
    /// The time limit of a request that uploads or downloads a file.
    package var requestMilliseconds = usualRequestMilliseconds
    /// The time limit of any other request, and of the time that any request waits for its turn.
    package var answerMilliseconds = 60_000
    /// The maximum time without a byte in either direction.
    package var stallMilliseconds = 60_000
    /// The maximum number of bytes of a request's body; a larger file is sent in parts.
    package var partBytes = 16 << 20
    /// The maximum number of requests in flight.
    package var connections = 16
    /// The maximum number of tries of a request.
    package var tries = 4
    /// The pause before the second try; each further pause is twice as long.
    package var pauseMilliseconds = 500

    /// Ten minutes; for a file in parts, for each part.
    package static let usualRequestMilliseconds = 600_000

    /// Settings with these values.
    package init(endpoint: String, region: String, credentials: RequestSigner.Credentials) {
      self.endpoint = endpoint
      self.region = region
      self.credentials = credentials
    }

    /// Settings from the environment variables that other programs for S3 read as well.
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
          "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set")
      }
      region = value("AWS_REGION", "AWS_DEFAULT_REGION") ?? "us-east-1"
      var endpoint =
        value("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? "https://s3.\(region).amazonaws.com"
      while endpoint.hasSuffix("/") { endpoint.removeLast() }
      guard endpoint.hasPrefix("https://") || endpoint.hasPrefix("http://") else {
        throw .setting("AWS_ENDPOINT_URL: \(endpoint) does not begin with https:// or http://")
      }
      self.endpoint = endpoint
      credentials = .init(
        accessKey: accessKey, secretKey: secretKey, sessionToken: value("AWS_SESSION_TOKEN"))
    }
  }

  /// An object in a list.
  package struct Object: Sendable, Hashable {
    /// Its key in the bucket.
    package let key: String
    /// Its size in bytes.
    package let bytes: Int
    /// Its entity tag, with the quotation marks.
    package let entityTag: String
    /// The time of its last write, in whole seconds since 1970; 0 if the store does not give it.
    package let modifiedSeconds: Int
  }

  /// The properties of an object, from the answer to a request about it.
  package struct Look: Sendable, Hashable {
    /// Its size in bytes.
    package let bytes: Int
    /// Its entity tag, with the quotation marks.
    package let entityTag: String
    /// The time of its last write, in whole seconds since 1970; 0 if the store does not give it.
    package let modifiedSeconds: Int
    /// The note that `put` stored with it.
    package let note: String?
  }

  /// Some bytes of an object.
  package struct Piece: Sendable {
    /// The properties of the object.
    package let look: Look
    /// The bytes of the requested range, as far as the object has them.
    package let bytes: [UInt8]
  }

  /// The precondition of a write.
  package enum Condition: Sendable, Hashable {
    /// The object is written in any case.
    case none
    /// There is no object with this key.
    case absent
    /// There is an object with this entity tag.
    case tag(String)
  }

  /// The maximum size of an answer without a file.
  private static let answerBytes = 4 << 20
  /// The maximum number of pages of a list.
  private static let listPages = 1_000
  /// The maximum number of parts of a file, as S3 limits it.
  private static let maximumParts = 10_000
  /// The number of bytes of a file that are hashed at a time.
  private static let hashedBytes = 1 << 18
  private static let noteName = "x-amz-meta-lookahead"

  /// The address of the bucket and the objects.
  package let address: ObjectAddress
  /// The counts of requests.
  package let counts = ObjectCounts()
  private let settings: Settings
  private let signer: RequestSigner
  private let transport: StoreTransport
  private let host: String
  private let base: String
  private let isSecure: Bool
  private let cancellation: Cancellation

  /// A store for the bucket of an address.
  package init(
    _ address: ObjectAddress, _ settings: Settings, cancellation: Cancellation = Cancellation()
  ) {
    self.address = address
    self.settings = settings
    self.cancellation = cancellation
    transport = StoreTransport(
      connections: settings.connections, waitMilliseconds: settings.answerMilliseconds)
    signer = RequestSigner(settings.credentials, region: settings.region)
    // As libcurl sends it: without the default port.
    isSecure = settings.endpoint.hasPrefix("https://")
    let rest = settings.endpoint.dropFirst(isSecure ? 8 : 7)
    let usual = isSecure ? ":443" : ":80"
    let authority = rest.prefix { $0 != "/" }
    host = String(authority.hasSuffix(usual) ? authority.dropLast(usual.count) : authority)
    base = String(rest.drop { $0 != "/" })
  }

  /// The number of requests in flight.
  package var busyCount: Int { transport.busyCount }

  // MARK: Lists

  /// The objects below the address, in the order of their keys.
  ///
  /// - Throws: `ObjectStoreError`.
  package func list() throws(ObjectStoreError) -> [Object] {
    var objects: [Object] = []
    for _ in 0..<Self.listPages {
      let page = try list(after: objects.last?.key, limit: 1_000)
      objects += page.objects
      if !page.hasMore { return objects }
    }
    throw .noAnswer("the list has more than \(Self.listPages) pages")
  }

  /// The first objects below the address whose keys follow `key`, in the order of the bytes of their keys.
  ///
  /// - Throws: `ObjectStoreError`.
  package func list(
    after key: String?, limit: Int
  ) throws(ObjectStoreError) -> (objects: [Object], hasMore: Bool) {
    var query = [("list-type", "2"), ("prefix", address.prefix), ("max-keys", "\(limit)")]
    if let key { query.append(("start-after", key)) }
    let answer = try ask("GET", key: nil, query: query, of: .list)
    var objects: [Object] = []
    for element in XMLText.all("Contents", in: answer.body[...]) {
      guard let key = XMLText.first("Key", in: element),
        let bytes = XMLText.first("Size", in: element).flatMap({ Int($0) }), bytes >= 0
      else { throw .noAnswer("an object has no Key or Size") }
      objects.append(
        Object(
          key: key, bytes: bytes, entityTag: XMLText.first("ETag", in: element) ?? "",
          modifiedSeconds: Self.seconds(XMLText.first("LastModified", in: element))))
    }
    let hasMore = XMLText.first("IsTruncated", in: answer.body[...]) == "true"
    // A store that announces more pages and returns an empty one would cause an endless loop.
    guard !hasMore || !objects.isEmpty, objects.last.map({ $0.key != key }) ?? true else {
      throw .noAnswer("a page of the list is empty, but not the last")
    }
    return (objects, hasMore)
  }

  // MARK: Objects

  /// The properties of an object; nil if it does not exist.
  ///
  /// - Throws: `ObjectStoreError`.
  package func look(at key: String) throws(ObjectStoreError) -> Look? {
    do throws(ObjectStoreError) {
      let answer = try ask("HEAD", key: key, of: .look)
      guard let bytes = answer["content-length"].flatMap({ Int($0) }), bytes >= 0 else {
        throw .noAnswer("the length of \(key) is missing")
      }
      return Self.look(answer, bytes: bytes)
    } catch {
      guard case .refused(404, _, _) = error else { throw error }
      return nil
    }
  }

  private static func look(_ answer: StoreAnswer, bytes: Int) -> Look {
    Look(
      bytes: bytes, entityTag: answer["etag"] ?? "",
      modifiedSeconds: seconds(answer["last-modified"]), note: answer[noteName])
  }

  /// The seconds since 1970 of a time in the format of lists, `2026-11-26T01:02:03.000Z`, or of header
  /// fields, `Sun, 06 Nov 1994 08:49:37 GMT`; 0 for any other text.
  static func seconds(_ text: String?) -> Int {
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    guard let text else { return 0 }
    var date: (year: Int, month: Int, day: Int)?
    var time: [Int] = []
    if let match = text.wholeMatch(
      of: /([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]*)?Z/)
    {
      let output = match.output
      date = (Int(output.1) ?? 0, Int(output.2) ?? 0, Int(output.3) ?? 0)
      time = [output.4, output.5, output.6].compactMap { Int($0) }
    } else if let match = text.wholeMatch(
      of:
        /[A-Z][a-z]{2}, ([0-9]{2}) ([A-Z][a-z]{2}) ([0-9]{4}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) GMT/)
    {
      let output = match.output
      let month = months.firstIndex(of: String(output.2)).map { $0 + 1 } ?? 0
      date = (Int(output.3) ?? 0, month, Int(output.1) ?? 0)
      time = [output.4, output.5, output.6].compactMap { Int($0) }
    }
    guard let date, time.count == 3,
      let days = CivilTime.daysSince1970(year: date.year, month: date.month, day: date.day)
    else { return 0 }
    return days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
  }

  /// Reads bytes of an object, of the version with this tag if there is one; nil if the object does not
  /// exist.
  ///
  /// - Throws: `ObjectStoreError`; `.changed` if the object has another version by now.
  package func read(
    _ key: String, _ range: Range<Int>, of tag: String? = nil
  ) throws(ObjectStoreError) -> Piece? {
    var fields = [("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
    if let tag { fields.append(("if-match", tag)) }
    let answer: StoreAnswer
    do throws(ObjectStoreError) {
      answer = try ask(
        "GET", key: key, fields: fields, answerBytes: range.count, of: .read,
        expecting: [200, 206, 416])
    } catch {
      switch error {
      // A missing bucket is another error.
      case .refused(404, let code, _) where code != "NoSuchBucket": return nil
      case .refused(412, _, _): throw .changed
      default: throw error
      }
    }
    switch answer.status {
    case 206:
      guard let found = answer.contentRange,
        found.range == range.lowerBound..<min(range.upperBound, found.size)
      else { throw .noAnswer("\(key): the range differs from the requested one") }
      guard answer.body.count == found.range.count else {
        throw .otherLength(key: key, expected: found.range.count, found: answer.body.count)
      }
      return Piece(look: Self.look(answer, bytes: found.size), bytes: answer.body)
    case 200:
      // The whole object, which is no longer than the requested range.
      guard range.lowerBound == 0,
        answer["content-length"].map({ Int($0) == answer.body.count }) ?? true
      else { throw .noAnswer("ranges are not supported") }
      return Piece(look: Self.look(answer, bytes: answer.body.count), bytes: answer.body)
    default:
      // An empty object has no range; an object that has become shorter is another version.
      guard range.lowerBound == 0 else { throw .changed }
      guard let look = try look(at: key) else { return nil }
      guard look.bytes == 0 else { throw .changed }
      return Piece(look: look, bytes: [])
    }
  }

  /// Deletes an object, if it exists.
  ///
  /// - Throws: `ObjectStoreError`.
  package func delete(_ key: String) throws(ObjectStoreError) {
    do throws(ObjectStoreError) {
      _ = try ask("DELETE", key: key, of: .delete)
    } catch {
      guard case .refused(404, "NoSuchKey", _) = error else { throw error }
    }
  }

  /// Downloads an object into an empty file.
  ///
  /// - Throws: `ObjectStoreError`, `SystemError`.
  package func get(_ object: Object, into file: Descriptor) throws {
    _ = try ask("GET", key: object.key, answerBytes: max(object.bytes, 1), into: file, of: .read)
    let found = try file.status.bytes
    guard found == object.bytes else {
      throw ObjectStoreError.otherLength(key: object.key, expected: object.bytes, found: found)
    }
  }

  // MARK: Writes

  /// Uploads a file: the object is there as a whole, or not at all.
  ///
  /// - Parameters:
  ///   - type: its `Content-Type`.
  ///   - note: stored with the object, and returned by `look`; letters and digits.
  ///   - condition: stores of before 2025 may ignore it, and write in any case.
  /// - Throws: `ObjectStoreError`, `SystemError`.
  package func put(
    _ file: OpenFile, as key: String, type: String? = nil, note: String? = nil,
    if condition: Condition = .none
  ) throws {
    var fields: [(String, String)] = []
    if let type { fields.append(("content-type", type)) }
    if let note { fields.append((Self.noteName, note)) }
    let conditions: [(String, String)] =
      switch condition {
      case .none: []
      case .absent: [("if-none-match", "*")]
      case .tag(let tag): [("if-match", tag)]
      }
    do {
      if file.size <= settings.partBytes {
        _ = try send(file, 0..<file.size, as: key, fields: fields + conditions)
      } else {
        try putInParts(file, as: key, fields, conditions)
      }
    } catch ObjectStoreError.refused(let status, _, _) where [409, 412].contains(status) {
      // An earlier try, whose answer was lost, may have written the object.
      guard let note, try look(at: key)?.note == note else {
        throw ObjectStoreError.preconditionFailed
      }
    } catch ObjectStoreError.refused(404, "NoSuchUpload", let message) {
      guard let note, try look(at: key)?.note == note else {
        throw ObjectStoreError.refused(status: 404, code: "NoSuchUpload", message: message)
      }
    }
  }

  private func putInParts(
    _ file: OpenFile, as key: String, _ fields: [(String, String)],
    _ conditions: [(String, String)]
  ) throws {
    let begun = try ask("POST", key: key, query: [("uploads", "")], fields: fields, of: .write)
    guard let upload = XMLText.first("UploadId", in: begun.body[...]) else {
      throw ObjectStoreError.noAnswer("a multipart upload has no UploadId")
    }
    do {
      let parts = try sendParts(of: file, as: key, upload)
      let document = Array("<CompleteMultipartUpload>\(parts)</CompleteMultipartUpload>".utf8)
      // The store assembles the parts before it answers.
      let done = try ask(
        "POST", key: key, query: [("uploadId", upload)], fields: conditions,
        body: .bytes(document), timeMilliseconds: settings.requestMilliseconds,
        stallMilliseconds: settings.requestMilliseconds, of: .write)
      // The store may fail only after it has sent 200.
      if XMLText.first("Code", in: done.body[...]) != nil,
        case .refused(_, let code, let message) = done.refusal
      {
        throw ObjectStoreError.refused(status: 500, code: code, message: message)
      }
    } catch {
      // Uploaded parts cost money as long as they are kept.
      try? abort(.init(key: key, id: upload, begunSeconds: 0))
      throw error
    }
  }

  private func sendParts(of file: OpenFile, as key: String, _ upload: String) throws -> String {
    let partBytes = max(
      settings.partBytes, (file.size + Self.maximumParts - 1) / Self.maximumParts)
    var parts = ""
    var offset = 0
    var number = 1
    while offset < file.size {
      let range = offset..<min(file.size, offset + partBytes)
      let answer = try send(
        file, range, as: key, query: [("partNumber", "\(number)"), ("uploadId", upload)])
      guard let tag = answer["etag"] else {
        throw ObjectStoreError.noAnswer("a part has no ETag")
      }
      parts +=
        "<Part><PartNumber>\(number)</PartNumber><ETag>\(XMLText.escaped(tag))</ETag></Part>"
      offset = range.upperBound
      number += 1
    }
    return parts
  }

  private func send(
    _ file: OpenFile, _ range: Range<Int>, as key: String, query: [(String, String)] = [],
    fields: [(String, String)] = []
  ) throws -> StoreAnswer {
    var hash = SHA256()
    var offset = range.lowerBound
    while offset < range.upperBound {
      let piece = try file.read(
        at: offset, count: min(Self.hashedBytes, range.upperBound - offset))
      guard !piece.isEmpty else {
        throw ObjectStoreError.otherLength(
          key: key, expected: range.upperBound, found: offset)
      }
      hash.update(piece)
      offset += piece.count
    }
    return try ask(
      "PUT", key: key, query: query, fields: fields, body: .file(file, range),
      digest: hash.finalize(), timeMilliseconds: settings.requestMilliseconds, of: .write)
  }

  /// A multipart upload that is not complete.
  package struct Unfinished: Sendable, Hashable {
    /// The key that the object will have.
    package let key: String
    let id: String
    /// When the upload began, in seconds since 1970; 0 if the store does not give it.
    package let begunSeconds: Int
  }

  /// The first incomplete multipart uploads below the address that began before a time: killed servers leave
  /// them. Uploads without a time are left out.
  ///
  /// - Throws: `ObjectStoreError`.
  package func unfinished(begunBefore seconds: Int) throws(ObjectStoreError) -> [Unfinished] {
    let answer = try ask(
      "GET", key: nil, query: [("uploads", ""), ("prefix", address.prefix)], of: .list)
    return XMLText.all("Upload", in: answer.body[...]).compactMap { element in
      guard let key = XMLText.first("Key", in: element),
        let id = XMLText.first("UploadId", in: element)
      else { return nil }
      return Unfinished(
        key: key, id: id, begunSeconds: Self.seconds(XMLText.first("Initiated", in: element)))
    }.filter { $0.begunSeconds > 0 && $0.begunSeconds < seconds }
  }

  /// Aborts a multipart upload, and deletes its parts.
  ///
  /// - Throws: `ObjectStoreError`.
  package func abort(_ upload: Unfinished) throws(ObjectStoreError) {
    do throws(ObjectStoreError) {
      _ = try ask("DELETE", key: upload.key, query: [("uploadId", upload.id)], of: .delete)
    } catch {
      guard case .refused(404, _, _) = error else { throw error }
    }
  }

  // MARK: URLs

  /// A URL with which anyone can send a request for an object: from a time on, for this number of seconds.
  ///
  /// - Parameter query: parameters for the store, such as `response-content-type`.
  package func signedURL(
    _ method: String, _ key: String, query: [(name: String, value: String)],
    secondsSince1970: Int, forSeconds seconds: Int
  ) -> String {
    let request = request(method, key: key, query: query, fields: [], digest: [])
    let signed = signer.signedQuery(
      of: request, secondsSince1970: secondsSince1970, forSeconds: seconds)
    return "\(isSecure ? "https" : "http")://\(host)\(request.path)?\(signed)"
  }

  // MARK: Requests

  private func request(
    _ method: String, key: String?, query: [(String, String)], fields: [(String, String)],
    digest: [UInt8]
  ) -> RequestSigner.Request {
    let path = RequestSigner.path("\(base)/\(address.bucket)" + (key.map { "/\($0)" } ?? ""))
    return .init(
      method: method, host: host, path: path, query: query.map { ($0.0, $0.1) },
      fields: fields.map { ($0.0, $0.1) }, bodyDigest: digest)
  }

  /// Sends a request, and retries it if that may help.
  private func ask(
    _ method: String, key: String?, query: [(String, String)] = [],
    fields: [(String, String)] = [], body: StoreTransport.Body = .none, digest: [UInt8]? = nil,
    answerBytes: Int = Self.answerBytes, into file: Descriptor? = nil,
    timeMilliseconds: Int? = nil, stallMilliseconds: Int? = nil, of kind: ObjectCounts.Kind,
    expecting statuses: [Int] = []
  ) throws(ObjectStoreError) -> StoreAnswer {
    let digest =
      switch (digest, body) {
      case (let digest?, _): digest
      case (nil, .bytes(let bytes)): SHA256.hash(bytes)
      case (nil, _): SHA256.hash([])
      }
    let request = request(method, key: key, query: query, fields: fields, digest: digest)
    let text = RequestSigner.query(request.query)
    let url =
      "\(isSecure ? "https" : "http")://\(host)\(request.path)\(text.isEmpty ? "" : "?\(text)")"
    let limits = StoreTransport.Limits(
      answerBytes: answerBytes,
      timeMilliseconds: timeMilliseconds
        ?? (file == nil ? settings.answerMilliseconds : settings.requestMilliseconds),
      stallSeconds: (stallMilliseconds ?? settings.stallMilliseconds) / 1_000)
    var pause = settings.pauseMilliseconds
    var number = 1
    while true {
      // Discards what an earlier try has written.
      if number > 1 { try? file?.cut(to: 0) }
      var last: ObjectStoreError
      switch send(request, url, body, limits, file) {
      case .success(let answer):
        let isWanted =
          statuses.isEmpty
          ? (200..<300).contains(answer.status) : statuses.contains(answer.status)
        if isWanted {
          counts.count(kind, .ok, sent: body.count, received: answer.body.count)
          return answer
        }
        last = answer.refusal
        guard answer.isPassing else {
          counts.count(kind, answer.status == 404 ? .missing : .refused)
          throw last
        }
      case .failure(.cancelled): throw .cancelled
      case .failure(.tooLong):
        counts.count(kind, .refused)
        throw .noAnswer("more than \(answerBytes) bytes were received")
      case .failure(.failed(let words)): last = .failed(words)
      }
      counts.count(kind, .failed)
      guard number < settings.tries, !cancellation.isCancelled else {
        if case .failed(let words) = last, settings.tries > 1 {
          last = .failed("\(settings.tries) times; \(words)")
        }
        throw last
      }
      CurrentThread.rest(nanoseconds: UInt64(pause) * 1_000_000)
      pause *= 2
      number += 1
    }
  }

  private func send(
    _ request: RequestSigner.Request, _ url: String, _ body: StoreTransport.Body,
    _ limits: StoreTransport.Limits, _ file: Descriptor?
  ) -> Result<StoreAnswer, StoreTransport.Failure> {
    let fields = signer.fields(of: request, secondsSince1970: WallClock.secondsSince1970)
    return Result { () throws(StoreTransport.Failure) in
      try transport.send(
        .init(method: request.method, url: url, fields: fields, body: body), limits, into: file,
        cancellation)
    }
  }
}
