import CivilTime
import Glibc
import SHA2
import System

/// A bucket of S3, or of a store that speaks its protocol.
///
/// A request that the store did not answer, or with 429 or 5xx, is sent again a few times. A larger file goes in parts: it
/// is there as a whole when the last request is answered, or not at all.
package struct ObjectStore: Sendable {
  /// Where the store is, who asks, and within which limits.
  package struct Settings: Sendable {
    /// `https://s3.eu-central-1.amazonaws.com`, without a slash at its end.
    package var endpoint: String
    /// Which the signature names.
    package var region: String
    /// Whose the bucket is.
    package var credentials: RequestSigner.Credentials
    /// How long a request that brings or takes a file may take; and how long any may wait for its turn.
    package var requestMilliseconds = usualRequestMilliseconds
    /// How long a request may take that does neither.
    package var answerMilliseconds = 60_000
    /// For how long nothing may come or go.
    package var stallMilliseconds = 60_000
    /// How many bytes go with one request; a file of more goes in parts.
    package var partBytes = 16 << 20
    /// How many requests are under way at once.
    package var connections = 16
    /// How often a request is sent at the most.
    package var tries = 4
    /// How long the first pause between two tries is; the next ones are twice as long each.
    package var pauseMilliseconds = 500

    /// Ten minutes: of a file in parts, for each of them.
    package static let usualRequestMilliseconds = 600_000

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

  /// An object.
  package struct Object: Sendable, Hashable {
    /// Its name in the bucket.
    package let key: String
    /// Its size.
    package let bytes: Int
    /// Its entity tag, with its quotation marks.
    package let entityTag: String
    /// When it was written, in whole seconds; 0 where the store does not say it.
    package let modifiedSeconds: Int
  }

  /// What is said of an object with the answer to a request about it.
  package struct Look: Sendable, Hashable {
    /// Its size.
    package let bytes: Int
    /// Its entity tag, with its quotation marks.
    package let entityTag: String
    /// When it was written, in whole seconds; 0 where the store does not say it.
    package let modifiedSeconds: Int
    /// What `put` was told of its content.
    package let note: String?
  }

  /// Bytes of an object.
  package struct Piece: Sendable {
    /// Of which object.
    package let look: Look
    /// Those of the range that was asked for, as far as there are any.
    package let bytes: [UInt8]
  }

  /// When an object is written.
  package enum Condition: Sendable, Hashable {
    /// In any case.
    case none
    /// Where there is none of its name.
    case absent
    /// Where there is one with this entity tag.
    case tag(String)
  }

  /// What an answer without a file may have.
  private static let answerBytes = 4 << 20
  /// How many pages of a list are read.
  private static let listPages = 1_000
  /// How many parts a file may have, as S3 limits it.
  private static let maximumParts = 10_000
  /// How much of a file is hashed at a time.
  private static let hashedBytes = 1 << 18
  private static let noteName = "x-amz-meta-lookahead"

  /// Which bucket.
  package let address: ObjectAddress
  /// What was asked of it.
  package let counts = ObjectCounts()
  private let settings: Settings
  private let signer: RequestSigner
  private let transport: StoreTransport
  private let host: String
  private let base: String
  private let isSecure: Bool
  private let cancellation: Cancellation

  /// The bucket of an address.
  package init(
    _ address: ObjectAddress, _ settings: Settings, cancellation: Cancellation = Cancellation()
  ) {
    self.address = address
    self.settings = settings
    self.cancellation = cancellation
    transport = StoreTransport(
      connections: settings.connections, waitMilliseconds: settings.answerMilliseconds)
    signer = RequestSigner(settings.credentials, region: settings.region)
    // As libcurl sends it: without the usual port.
    isSecure = settings.endpoint.hasPrefix("https://")
    let rest = settings.endpoint.dropFirst(isSecure ? 8 : 7)
    let usual = isSecure ? ":443" : ":80"
    let authority = rest.prefix { $0 != "/" }
    host = String(authority.hasSuffix(usual) ? authority.dropLast(usual.count) : authority)
    base = String(rest.drop { $0 != "/" })
  }

  /// How many requests are under way.
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

  /// The first objects below the address whose keys come behind one, in the order of the bytes of their keys.
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
    // A store that says so and brings nothing would be asked forever.
    guard !hasMore || !objects.isEmpty, objects.last.map({ $0.key != key }) ?? true else {
      throw .noAnswer("a page of the list is empty, but not the last")
    }
    return (objects, hasMore)
  }

  // MARK: Objects

  /// What is said of an object; nil where there is none.
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

  /// The seconds since 1970 of a time as lists have it, `2026-11-26T01:02:03.000Z`, or as fields do,
  /// `Sun, 06 Nov 1994 08:49:37 GMT`; 0 of what is neither.
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

  /// Bytes of an object, of the version with this tag where one is named; nil where there is no object.
  ///
  /// - Throws: `ObjectStoreError`, `.changed` where it is another version by now.
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
      // Whose bucket is missing has another problem.
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
      // All of it, which is no more than was asked for.
      guard range.lowerBound == 0,
        answer["content-length"].map({ Int($0) == answer.body.count }) ?? true
      else { throw .noAnswer("ranges are not supported") }
      return Piece(look: Self.look(answer, bytes: answer.body.count), bytes: answer.body)
    default:
      // Of an object without bytes there is no range; one that has become shorter is another one.
      guard range.lowerBound == 0 else { throw .changed }
      guard let look = try look(at: key) else { return nil }
      guard look.bytes == 0 else { throw .changed }
      return Piece(look: look, bytes: [])
    }
  }

  /// Takes an object away, if it is there.
  ///
  /// - Throws: `ObjectStoreError`.
  package func delete(_ key: String) throws(ObjectStoreError) {
    do throws(ObjectStoreError) {
      _ = try ask("DELETE", key: key, of: .delete)
    } catch {
      guard case .refused(404, "NoSuchKey", _) = error else { throw error }
    }
  }

  /// Takes an object out, into a file that is empty.
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

  /// Puts a file there; it is whole, or not there at all.
  ///
  /// - Parameters:
  ///   - type: its `Content-Type`.
  ///   - note: kept with it, and told by looks; letters and digits.
  ///   - condition: stores of before 2025 may not know it, and write in any case.
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
      // Its own try of before, whose answer was lost, may have written it.
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
      // The store puts the parts together before it answers.
      let done = try ask(
        "POST", key: key, query: [("uploadId", upload)], fields: conditions,
        body: .bytes(document), timeMilliseconds: settings.requestMilliseconds,
        stallMilliseconds: settings.requestMilliseconds, of: .write)
      // It may be found only after 200 was sent that it failed.
      if XMLText.first("Code", in: done.body[...]) != nil,
        case .refused(_, let code, let message) = done.refusal
      {
        throw ObjectStoreError.refused(status: 500, code: code, message: message)
      }
    } catch {
      // What came costs money as long as it is kept.
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

  /// An upload in parts that was begun.
  package struct Unfinished: Sendable, Hashable {
    /// What the object is to be called.
    package let key: String
    let id: String
    /// When it was begun; 0 where the store does not say it.
    package let begunSeconds: Int
  }

  /// The first uploads in parts below the address that were begun before a time and are not whole: killed servers leave
  /// them. One whose time the store does not say is none of them.
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

  /// Takes away what came of an upload in parts.
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

  /// A URL by which anybody may send a request for an object, from this second on for this many seconds.
  ///
  /// - Parameter query: what the store is to say of it, such as `response-content-type`.
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

  /// Sends a request, again where that may help.
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
      // What a try before has written.
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
