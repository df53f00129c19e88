import HTTP
import HTTPServer
import Logging
import MediaFiles
import MediaFormats
import MediaIndex
import Observability
import SHA2
import System

/// Uploads of media files that clients may continue after an interruption:
/// draft-ietf-httpbis-resumable-upload-12.
///
/// Theory of operation. A request that begins an upload creates an upload resource: a file and a note
/// (`PartialUploads`), on the disk before the client hears of it. Requests append to the file, one at a time.
/// A later request for the same upload ends an earlier one of this process, whose client has most likely
/// given it up (section 4.6), and waits for its writes. Every offset that clients receive is on the disk.
/// When the client says that the upload is complete, the file is handled like any other
/// (`MediaUploads.finish`). Right before the file gets its name, the name is written to the note. So even
/// after a kill, an upload whose file is gone is complete, and any other is not; for a bucket, the server
/// asks whether the bucket has that content. A refusal of the whole file ends the upload; after a failure of
/// the server the upload stays, and the client may try again.
final class ResumableUploads: Sendable {
  /// The interop version of the draft, which clients and servers exchange (appendix B).
  static let interopVersion = "9"
  /// The media type of appended bytes.
  static let partialType = "application/partial-upload"
  /// The number of bytes between progress messages to clients that want them.
  private static let progressBytes = 16 << 20
  /// The maximum time that a request waits for an earlier one to end.
  private static let patienceMilliseconds = 10_000
  /// The number of digits of a name: 128 random bits, not to be guessed.
  private static let nameDigits = 32

  /// The state of an upload.
  struct State: Sendable {
    let id: String
    let offset: Int
    let isComplete: Bool
    let length: Int?
    /// The time until the upload expires.
    let ageSeconds: Int
    /// The path of the file, once it is complete.
    let segments: [String]?
  }

  /// The result of a request.
  enum Outcome: Sendable {
    case appended(State)
    case completed(MediaUploads.Placed)
  }

  /// The body of a request, and what the head says of it.
  struct Part: Sendable {
    let body: BodyStream?
    /// The size of the body, if the request gives it.
    let contentLength: Int?
    /// Whether the upload ends with this body.
    let isLast: Bool
    /// The size of the whole file, if the request gives it.
    let length: Int?
    /// The digests of the body alone.
    let digests: DigestFields
    /// Called now and then with the bytes that are on the disk; `nil` if the client does not want to know.
    let onProgress: (@Sendable (Int) -> Void)?

    /// The size of the whole file by this request, if it appends at an offset.
    ///
    /// - Throws: `Problem` if the request contradicts itself.
    func length(at offset: Int) throws(Problem) -> Int? {
      guard isLast, let contentLength else { return length }
      let sum = offset + contentLength
      guard length == nil || length == sum else {
        throw .inconsistentLength(
          "\(offset) + \(contentLength) bytes, but Upload-Length is \(length ?? 0)")
      }
      return sum
    }
  }

  /// A request that is using an upload.
  private struct Active: Sendable {
    let token: String
    let body: BodyStream?
  }

  private let uploads: MediaUploads
  private let files: PartialUploads
  private let maximumCount: Int
  private let maximumBytes: Int
  private let lifeSeconds: Int
  private let active = Monitor<[String: Active]>([:])
  /// The last logged problem of `sweep`, which is logged once.
  private let said = Monitor<String?>(nil)
  private let counted = Monitor<(count: Int, bytes: Int, atMilliseconds: UInt64)?>(nil)

  init(_ uploads: MediaUploads, _ configuration: ApplicationConfiguration) {
    self.uploads = uploads
    files = PartialUploads(uploads.uploads)
    maximumCount = configuration.maximumPartialUploads
    maximumBytes = configuration.partialUploadBytes
    lifeSeconds = configuration.partialUploadSeconds
  }

  var pool: WorkerPool { uploads.pool }
  /// The maximum size of a file.
  var fileBytes: Int { uploads.maximumBytes }

  /// The value of `Upload-Limit`, for an upload that expires after this time; without it, for a new one.
  func limits(ageSeconds: Int? = nil) -> String {
    "max-size=\(uploads.maximumBytes), max-age=\(ageSeconds ?? lifeSeconds)"
  }

  /// Removes uploads that were not continued in time; called again and again.
  func sweep(_ logger: Logger) {
    do {
      // A media root to which nothing was uploaded stays as it is, and may be read-only.
      guard try !files.all().isEmpty else { return }
      // Holds the lock so that no request creates an upload meanwhile, whose note would seem to be missing.
      let lock = try uploads.uploads.lock([])
      defer { withExtendedLifetime(lock) {} }
      let removed = try removeExpired(try files.all())
      if removed > 0 { logger.notice("removed \(removed) expired uploads") }
      said.withLock { $0 = nil }
    } catch {
      let problem = "cannot read incomplete uploads: \(error)"
      let isNew = said.withLock { said in
        defer { said = problem }
        return said != problem
      }
      if isNew { logger.error("\(problem)") }
    }
  }

  /// The interval between removals of expired uploads.
  var sweepMilliseconds: Int { 1_000 * max(1, min(lifeSeconds, Self.sweepSeconds)) }

  private static let sweepSeconds = 60
  /// The time for which counts are reused for figures.
  private static let countedMilliseconds: UInt64 = 1_000

  /// The number of incomplete uploads, and the bytes received of them.
  var figures: (count: Int, bytes: Int) {
    let now = MonotonicClock.milliseconds
    if let known = counted.withLock({ $0 }), now - known.atMilliseconds < Self.countedMilliseconds {
      return (known.count, known.bytes)
    }
    let sizes = (try? files.sizes()) ?? []
    let sum = sizes.reduce(0) { $0.addingReportingOverflow($1).partialValue }
    counted.withLock { $0 = (sizes.count, sum, now) }
    return (sizes.count, sum)
  }

  /// Registers its figures.
  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_media_partial_uploads",
      help: "Resumable uploads that are not complete, of all servers with this media root."
    ) { self.figures.count }
    registry.gauge(
      "lookahead_media_partial_upload_bytes",
      help: "Bytes received of resumable uploads that are not complete."
    ) { self.figures.bytes }
    registry.gauge(
      "lookahead_media_uploads", help: "Uploads and deletions of media files, running or waiting."
    ) { self.uploads.count }
  }

  // MARK: Operations

  /// Creates an upload and receives its first bytes; waits for the client, the disk and, after the last byte,
  /// the decoder.
  ///
  /// - Parameters:
  ///   - isTold: whether the client learns of the upload before its request is answered: if not, and the
  ///     request ends early, the client cannot continue the upload, and nothing remains.
  ///   - onBegin: called when the upload exists.
  func create(
    _ order: MediaUploads.Order, token: String, _ part: Part, isTold: Bool,
    onBegin: (State) -> Void
  ) throws -> Outcome {
    let length = try part.length(at: 0)
    try uploads.checkStored(order)
    try requireRoom(for: max(length ?? 0, part.contentLength ?? 0))
    let id = Self.newName()
    let note = UploadNote(
      order, token: token, createdSeconds: WallClock.secondsSince1970, length: length)
    // Enters first: the next request finds the file unlocked when this one has left.
    try enter(id, token: token, part.body)
    defer { leave(id) }
    let file = try makeRoom(for: note, id)
    onBegin(state(id, note, offset: 0))
    do {
      return try take(part, into: file, at: 0, id, note)
    } catch {
      if !isTold { try? files.remove(id) }
      throw error
    }
  }

  /// Appends to an upload; waits as `create` does.
  func append(_ id: String, token: String, offset: Int, _ part: Part) throws -> Outcome {
    try enter(id, token: token, part.body)
    defer { leave(id) }
    let opened = try open(id, token: token)
    var note = opened.note
    guard let file = opened.file else {
      throw part.contentLength == 0
        ? Problem.completedUpload(at: note.placed?.segments)
        : Problem.inconsistentLength("the upload is complete")
    }
    let current = try file.descriptor.status.bytes
    guard offset == current else {
      try file.descriptor.sync()
      throw Problem.mismatchingOffset(expected: current, provided: offset)
    }
    if let length = try part.length(at: offset) {
      guard note.length == nil || note.length == length else {
        throw Problem.inconsistentLength(
          "\(length) bytes, but \(note.length ?? 0) in an earlier request")
      }
      try requireRoom(for: length)
      if note.length == nil {
        note.length = length
        try files.write(note.json, of: id)
      }
    }
    return try take(part, into: file, at: offset, id, note)
  }

  /// The state of an upload; ends a request that is using it, so that the next one can continue from there.
  func state(_ id: String, token: String) throws -> State {
    try enter(id, token: token, nil)
    defer { leave(id) }
    let opened = try open(id, token: token)
    guard let file = opened.file else { return state(id, opened.note, offset: nil) }
    try file.descriptor.sync()
    return state(id, opened.note, offset: try file.descriptor.status.bytes)
  }

  /// Cancels an upload; if it is complete, the file stays.
  func cancel(_ id: String, token: String) throws {
    try enter(id, token: token, nil)
    defer { leave(id) }
    let file = try open(id, token: token).file
    try files.remove(id)
    withExtendedLifetime(file) {}
  }

  /// Ends a request of this process that is using an upload, as its client has begun another: call it before
  /// that one waits for a thread, which the first one may have.
  func supersede(_ id: String, token: String) {
    active.withLock { $0[id].flatMap { $0.token == token ? $0.body : nil } }?.cancel()
  }

  // MARK: One request at a time

  private func enter(_ id: String, token: String, _ body: BodyStream?) throws {
    let entered: Void? = active.wait(atMostMilliseconds: Self.patienceMilliseconds) { active in
      guard active[id] == nil else { return nil }
      active[id] = Active(token: token, body: body)
      return ()
    }
    guard entered != nil else { throw Problem.uploadBusy }
  }

  private func leave(_ id: String) {
    active.withLock { $0[id] = nil }
    active.notify()
  }

  /// The note and file of an upload of this token; the file is `nil` if the upload is complete.
  ///
  /// - Throws: `Problem` 404 if there is no such upload, 503 if another process is using it.
  private func open(_ id: String, token: String) throws -> (note: UploadNote, file: UploadFile?) {
    guard Self.isName(id), let bytes = try files.note(of: id) else { throw Problem.unknownUpload }
    guard let note = UploadNote(bytes), note.token == token else { throw Problem.unknownUpload }
    let taken = try files.take(id)
    if case .busy = taken { throw Problem.uploadBusy }
    guard age(note) > 0 else {
      try files.remove(id)
      throw Problem.unknownUpload
    }
    guard case .file(let file) = taken else {
      // Read again: the file may have got its name since.
      guard let bytes = try files.note(of: id), let note = UploadNote(bytes), note.placed != nil
      else {
        // A part of the upload is missing: it cannot be continued.
        try files.remove(id)
        throw Problem.unknownUpload
      }
      return (note, nil)
    }
    if let placed = note.placed, let bucket = uploads.folder.storage.bucket,
      let content = OpenFile(file.descriptor), content.size == placed.bytes,
      try bucket.holds(uploads.digests(of: content, withSHA512: false).sha256, at: placed.segments)
    {
      // The process that put the object there was killed before it removed the file.
      file.remove()
      return (note, nil)
    }
    return (note, file)
  }

  private func state(_ id: String, _ note: UploadNote, offset: Int?) -> State {
    let bytes = offset ?? note.placed?.bytes ?? 0
    return State(
      id: id, offset: bytes, isComplete: offset == nil,
      length: offset == nil ? bytes : note.length, ageSeconds: max(0, age(note)),
      segments: offset == nil ? note.placed?.segments : nil)
  }

  /// The time until an upload expires.
  private func age(_ note: UploadNote) -> Int {
    let (since, overflow) = WallClock.secondsSince1970.subtractingReportingOverflow(
      note.createdSeconds)
    // A clock that was set back extends no lifetime.
    return overflow ? 0 : min(lifeSeconds, lifeSeconds - since)
  }

  private static func newName() -> String {
    let digits = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
    return digits.map { String(repeating: "0", count: nameDigits / 2 - $0.count) + $0 }.joined()
  }

  private static func isName(_ id: String) -> Bool {
    id.utf8.count == nameDigits
      && id.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  // MARK: Bytes

  /// - Throws: `Problem` 413 for a file that is too large, 507 if the media folder has no room for it.
  private func requireRoom(for bytes: Int) throws {
    guard bytes <= uploads.maximumBytes else { throw tooLarge }
    try uploads.withReserved(bytes: bytes) {}
  }

  /// - Throws: `Problem` 413 if a request announces more than the maximum size of a file.
  func checkLength(_ request: Request) throws(Problem) {
    if case .length(let bytes) = request.framing, bytes > uploads.maximumBytes { throw tooLarge }
  }

  /// The problem of a file that is too large.
  var tooLarge: Problem {
    var problem = Problem(
      .limitExceeded, .contentTooLarge,
      "A media file may have at most \(uploads.maximumBytes) bytes (--media-upload-bytes).")
    problem.fields.append("Upload-Limit", limits())
    return problem
  }

  /// Receives the bytes of a request, and after the last of the file analyzes it. Received bytes stay,
  /// whatever ends the request, except those that do not match the request's digest.
  private func take(
    _ part: Part, into file: UploadFile, at start: Int, _ id: String, _ note: UploadNote
  ) throws -> Outcome {
    let order = try note.order
    let offset: Int
    do {
      offset = try receive(part, into: file, at: start, order, limit: note.length)
    } catch BodyStreamError.cancelled {
      throw Problem.superseded
    } catch is PastLength {
      // Section 4.4.2: the client gave another length than it sent.
      try files.remove(id)
      throw Problem.inconsistentLength(
        "more than the \(note.length ?? 0) bytes of Upload-Length were received")
    } catch let error as Problem where error.status == .contentTooLarge {
      try files.remove(id)
      throw error
    } catch let error as UploadedTypeError {
      try files.remove(id)
      throw error
    }
    guard part.isLast else {
      try file.descriptor.sync()
      return .appended(state(id, note, offset: offset))
    }
    if let length = note.length, length != offset {
      try file.descriptor.sync()
      throw Problem.inconsistentLength(
        "\(offset) bytes were received, but Upload-Length is \(length)")
    }
    do {
      return .completed(try complete(file, bytes: offset, order, id, note))
    } catch {
      var problem = Problem(error)
      guard problem.status.code < 500 else { throw error }
      try files.remove(id)
      problem.fields.append("Upload-Complete", "?1")
      throw problem
    }
  }

  /// The file would exceed the length that the client gave.
  private struct PastLength: Error {}

  private func receive(
    _ part: Part, into file: UploadFile, at start: Int, _ order: MediaUploads.Order, limit: Int?
  ) throws -> Int {
    var offset = start
    var told = start
    var head = try file.descriptor.read(at: 0, count: min(start, MediaType.headBytes))
    var sha256 = SHA256()
    var sha512 = SHA512()
    let isDigested = !part.digests.expected.isEmpty
    while let piece = try part.body?.read() {
      guard offset + piece.count <= limit ?? .max else { throw PastLength() }
      guard offset + piece.count <= uploads.maximumBytes else { throw tooLarge }
      if head.count < MediaType.headBytes {
        head += piece.prefix(MediaType.headBytes - head.count)
        // An unsupported type is refused before the client sends the rest.
        if head.count == MediaType.headBytes { _ = try order.type(ofHead: head) }
      }
      try file.descriptor.write(piece[...], at: offset)
      offset += piece.count
      if isDigested {
        sha256.update(piece)
        if part.digests.needsSHA512 { sha512.update(piece) }
      } else if let onProgress = part.onProgress, offset - told >= Self.progressBytes {
        try file.descriptor.syncData()
        told = offset
        onProgress(offset)
      }
    }
    if isDigested {
      do {
        try part.digests.check(
          sha256: sha256.finalize(), sha512: part.digests.needsSHA512 ? sha512.finalize() : nil)
      } catch {
        try file.descriptor.cut(to: start)
        try file.descriptor.sync()
        throw error
      }
    }
    return offset
  }

  private func complete(
    _ file: UploadFile, bytes: Int, _ order: MediaUploads.Order, _ id: String, _ note: UploadNote
  ) throws -> MediaUploads.Placed {
    try uploads.withReserved(bytes: bytes) {
      let head = try file.descriptor.read(at: 0, count: min(bytes, MediaType.headBytes))
      let type = try order.type(ofHead: head)
      guard let content = OpenFile(file.descriptor) else { throw Problem.unknownUpload }
      let (sha256, sha512) = try uploads.digests(
        of: content, withSHA512: order.digests.needsSHA512)
      try order.digests.check(sha256: sha256, sha512: sha512)
      let received = MediaUploads.Received(
        upload: file, type: type, bytes: bytes, sha256: sha256, sha512: sha512)
      let placed = try uploads.finish(received, order) { segments, _ in
        var note = note
        note.placed = UploadNote.Placed(segments: segments, bytes: bytes)
        try files.write(note.json, of: id)
      }
      // If another file was made from it, this one still exists.
      file.remove()
      return placed
    }
  }

  // MARK: Room

  /// Creates an upload if there is room: within the limits of the number of incomplete uploads and of the
  /// bytes that they may have together. Removes the oldest complete uploads beyond the same number.
  private func makeRoom(for note: UploadNote, _ id: String) throws -> UploadFile {
    let lock = try uploads.uploads.lock([])
    defer { withExtendedLifetime(lock) {} }
    let all = try files.all()
    try removeExpired(all)
    let notes = all.map { entry in (entry, entry.note.flatMap { UploadNote($0) }) }
    let kept = notes.filter { _, note in note.map { age($0) > 0 } ?? false }
    let partial = kept.filter { $0.0.bytes != nil }
    guard partial.count < maximumCount else {
      throw Problem(
        .overloaded, .serviceUnavailable,
        "There are already \(partial.count) incomplete uploads, the maximum "
          + "(--maximum-partial-uploads)."
      )
    }
    let claimed = partial.reduce(0) { $0 + claim($1.1) }
    guard claimed + claim(note) <= maximumBytes else {
      throw Problem(
        .quotaExceeded, .insufficientStorage,
        "Incomplete uploads may have at most \(maximumBytes) bytes together "
          + "(--partial-upload-bytes); "
          + "an upload without Upload-Length counts as \(uploads.maximumBytes).")
    }
    let complete = kept.filter { $0.0.bytes == nil }.sorted { $0.0.changed < $1.0.changed }
    for (entry, _) in complete.dropLast(maximumCount) { try files.remove(entry.id) }
    return try files.begin(id, note: note.json)
  }

  /// The maximum size that it may reach.
  private func claim(_ note: UploadNote?) -> Int { note?.length ?? uploads.maximumBytes }

  /// - Returns: the number of removed uploads.
  @discardableResult
  private func removeExpired(_ all: [PartialUploads.Entry]) throws -> Int {
    var removed = 0
    for entry in all {
      let note = entry.note.flatMap { UploadNote($0) }
      if let note, age(note) > 0 { continue }
      switch try files.take(entry.id) {
      case .busy: continue
      case .file(let file):
        try files.remove(entry.id)
        withExtendedLifetime(file) { removed += 1 }
      case .nothing: try files.remove(entry.id)
      }
    }
    return removed
  }
}

extension Problem {
  fileprivate static let unknownUpload = Problem(
    .unknownUpload, .notFound,
    "The upload does not exist, has expired, or belongs to another token: begin again.")

  fileprivate static let uploadBusy = Problem(
    .overloaded, .serviceUnavailable, "Another request uses this upload.")

  fileprivate static let superseded = Problem(
    .uploadSuperseded, .conflict,
    "A later request for this upload superseded this one; the received bytes are kept.")

  fileprivate static func completedUpload(at segments: [String]?) -> Problem {
    var problem = Problem(.completedUpload, .gone, "The upload is already complete.")
    problem.fields.append("Upload-Complete", "?1")
    if let segments {
      problem.fields.append("Location", MediaAddresses.served.urls(of: segments)[0])
    }
    return problem
  }

  fileprivate static func mismatchingOffset(expected: Int, provided: Int) -> Problem {
    var problem = Problem(
      .mismatchingOffset, .conflict,
      "The upload has \(expected) bytes, but Upload-Offset is \(provided).")
    problem.fields.append("Upload-Offset", String(expected))
    problem.fields.append("Upload-Complete", "?0")
    problem.offsets = (expected, provided)
    return problem
  }

  fileprivate static func inconsistentLength(_ words: String) -> Problem {
    Problem(.inconsistentLength, .badRequest, "The length does not match: \(words).")
  }
}
