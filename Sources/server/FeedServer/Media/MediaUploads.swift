import Catalog
import Feed
import HTTP
import HTTPServer
import Logging
import MediaFiles
import MediaFormats
import MediaIndex
import MediaProbe
import SHA2
import System

/// Receives media files.
///
/// Theory of operation. The bytes go to a file in `UploadFolder`, which is not served, as they come. When all
/// are there, the server compares the file with the client's digests, rewrites it if the request asks for
/// that, analyzes it, and syncs it to the disk. Then the file gets its name at once (`rename(2)`), while no
/// other upload may use that name, and the facts about it are stored: the answer has them, and so does every
/// later page. If anything fails before, nothing remains; what a killed process leaves, the next one removes.
/// If the files are in a bucket, `UploadFolder` is in a folder of this machine, and the whole file goes to
/// the bucket in parts, where it becomes visible with the last part.
final class MediaUploads: Sendable {
  /// What a request asks for, from its head.
  struct Order: Sendable {
    /// The path for the file; `nil` if its content names it.
    let segments: [String]?
    let digests: DigestFields
    /// Whether tables behind the media data are moved to the front.
    let isFaststart: Bool
    let method: HTTP.Method
    let fields: Fields

    /// The type of a file that begins with `head`, for the path of the order.
    ///
    /// - Throws: `UploadedTypeError`.
    func type(ofHead head: [UInt8]) throws -> UploadedType {
      guard let segments else { return try UploadedType(head: head) }
      return try UploadedType(head: head, name: segments.last ?? "")
    }
  }

  /// The result of an upload.
  struct Placed: Sendable {
    let segments: [String]
    let isNew: Bool
    let status: MediaStatus
    let sha256: [UInt8]
    /// The facts about the file; `nil` if it could not be analyzed.
    let truth: MediaTruth?
    let isMended: Bool
    let warnings: [String]
  }

  /// The bytes of the quota that a body without a length reserves at a time.
  private static let reservedBytes = 1 << 20

  let folder: MediaFolder
  let pool: WorkerPool
  let maximumBytes: Int
  let uploads: UploadFolder
  private let arrival: MediaArrival
  private let spool: MediaRoot
  private let quota: MediaQuota
  /// The time of the last search for unfinished uploads in a bucket.
  private let abortedMilliseconds = Monitor<UInt64?>(nil)
  /// The minimum age of an unfinished upload in parts, left by a killed server, for removal from a bucket.
  private let unfinishedSeconds: Int
  /// The number of files that may be analyzed at once.
  private let decoders: Monitor<Int>

  /// `nil` if there is no folder for incomplete uploads.
  init?(
    _ folder: MediaFolder, _ store: any MediaStore, _ configuration: ApplicationConfiguration
  ) {
    guard let spool = folder.spool else { return nil }
    self.spool = spool
    unfinishedSeconds = configuration.partialUploadSeconds
    self.folder = folder
    pool = WorkerPool(
      threads: configuration.maximumMediaUploads, limit: configuration.mediaUploadQueue)
    maximumBytes = configuration.mediaUploadBytes
    arrival = MediaArrival(folder.storage, store: store, probe: configuration.mediaProbe)
    uploads = UploadFolder(spool)
    quota = MediaQuota(folder.storage, limitBytes: configuration.mediaQuotaBytes)
    decoders = Monitor(max(1, configuration.workerThreads))
  }

  /// Removes what killed processes left. Logs the reason if the server cannot receive uploads.
  func begin(_ logger: Logger) {
    do {
      try FileSystem.require([.writing, .entering], spool.path)
      let removed = try uploads.sweep()
      if removed > 0 { logger.notice("removed \(removed) unfinished uploads of media files") }
    } catch {
      logger.error("uploads of media files are refused (403): \(error)")
    }
  }

  /// The interval between searches for unfinished uploads in a bucket: stores charge for each search.
  private static let abortMilliseconds: UInt64 = 3_600_000

  /// Removes from a bucket the uploads in parts that killed servers left there, and those that could not be
  /// removed while the store was unavailable; at most once an interval.
  func abortUnfinished(_ logger: Logger) {
    guard let bucket = folder.storage.bucket else { return }
    let now = MonotonicClock.milliseconds
    let isDue = abortedMilliseconds.withLock { last in
      guard last.map({ now - $0 >= Self.abortMilliseconds }) ?? true else { return false }
      last = now
      return true
    }
    guard isDue else { return }
    do {
      let count = try bucket.abortUnfinished(
        begunBefore: WallClock.secondsSince1970 - unfinishedSeconds)
      if count > 0 { logger.notice("aborted \(count) unfinished uploads in the bucket") }
    } catch {
      logger.warning("cannot list unfinished uploads in the bucket: \(error)")
    }
  }

  /// The number of uploads and deletions that run or wait.
  var count: Int { pool.count }

  /// Checks before the body is read whether the upload can succeed, as far as an event loop can without
  /// waiting.
  ///
  /// - Throws: `Problem` 412 if the conditions do not hold for the current file, 409 if no file can have the
  ///   name.
  func check(_ order: Order) throws {
    guard folder.storage.bucket == nil, let segments = order.segments else { return }
    _ = try current(segments, order.method, order.fields)
  }

  /// The same check for a bucket, on a thread that may wait.
  func checkStored(_ order: Order) throws {
    guard folder.storage.bucket != nil, let segments = order.segments else { return }
    _ = try current(segments, order.method, order.fields)
  }

  /// The maximum number of listed items that name a file.
  private static let toldItems = 100

  /// Removes the file with this name, and stores that there is none; waits for the disk.
  ///
  /// - Throws: `MediaError.notFound` if there is no such file, `Problem` as `check` does, and 409 if items
  ///   name it and the deletion is not forced; `SystemError`, what the store throws.
  func delete(
    _ segments: [String], isForced: Bool, _ method: HTTP.Method, _ fields: Fields
  ) throws {
    let lock = try uploads.lock(segments)
    defer { withExtendedLifetime(lock) {} }
    guard let old = try current(segments, method, fields) else {
      throw MediaError.notFound(.noSuchFile)
    }
    if !isForced {
      let items = try arrival.items(naming: segments, limit: Self.toldItems + 1)
      guard items.isEmpty else { throw Problem.mediaInUse(items, limit: Self.toldItems) }
    }
    try folder.storage.delete(segments)
    folder.objects?.forget(segments)
    quota.add(-old.bytes)
    try arrival.lose(segments)
  }

  /// The name of a content, unique to it.
  private static func segments(of sha256: [UInt8], _ type: UploadedType) -> [String] {
    let digits = sha256.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return ["content", String(digits.prefix(2)), "\(digits).\(type.usualExtension)"]
  }

  /// Receives the body, and gives the file its name; waits for the client, the disk and the decoder.
  func take(_ body: BodyStream?, length: Int?, _ order: Order) throws -> Placed {
    try checkStored(order)
    let received = try receive(body, length: length, order)
    defer { quota.release(received.reserved) }
    try order.digests.check(sha256: received.sha256, sha512: received.sha512)
    return try finish(received, order)
  }

  /// A file as received.
  struct Received {
    var upload: UploadFile
    let type: UploadedType
    var bytes: Int
    var sha256: [UInt8]
    var sha512: [UInt8]?
    /// The bytes of the quota that are reserved for it.
    var reserved = 0
  }

  /// Reserves bytes of the quota while `body` runs.
  ///
  /// - Throws: `Problem` 507 if fewer are free, and what `body` throws.
  func withReserved<Result>(bytes: Int, _ body: () throws -> Result) throws -> Result {
    guard try quota.reserve(bytes) else { throw Problem.quota(quota.limitBytes) }
    defer { quota.release(bytes) }
    return try body()
  }

  private func receive(_ body: BodyStream?, length: Int?, _ order: Order) throws -> Received {
    var reserved = 0
    func reserve(_ bytes: Int) throws {
      guard try quota.reserve(bytes) else { throw Problem.quota(quota.limitBytes) }
      reserved += bytes
    }
    do {
      if let length { try reserve(length) }
      let upload = try uploads.begin()
      var sha256 = SHA256()
      var sha512 = SHA512()
      var bytes = 0
      var head: [UInt8] = []
      var known: UploadedType?
      while let piece = try body?.read() {
        if length == nil, bytes + piece.count > reserved {
          try reserve(max(piece.count, Self.reservedBytes))
        }
        if known == nil {
          head += piece.prefix(MediaType.headBytes - head.count)
          // An unsupported type is refused before the client sends the rest.
          if head.count == MediaType.headBytes { known = try order.type(ofHead: head) }
        }
        try upload.descriptor.write(piece[...], at: bytes)
        bytes += piece.count
        sha256.update(piece)
        if order.digests.needsSHA512 { sha512.update(piece) }
      }
      return Received(
        upload: upload, type: try known ?? order.type(ofHead: head), bytes: bytes,
        sha256: sha256.finalize(),
        sha512: order.digests.needsSHA512 ? sha512.finalize() : nil, reserved: reserved)
    } catch {
      quota.release(reserved)
      throw error
    }
  }

  /// Analyzes a complete file, and gives it its name.
  ///
  /// - Parameter beforePlacing: called with the file and its path when only the name is missing.
  func finish(
    _ received: Received, _ order: Order,
    beforePlacing: ([String], Received) throws -> Void = { _, _ in }
  ) throws -> Placed {
    var received = received
    var (report, warnings) = try look(into: &received)
    let isMended = order.isFaststart && report?.notes.contains(.tablesBehind) == true
    if isMended {
      try mend(&received)
      (report, warnings) = try look(into: &received)
    }
    try received.upload.descriptor.sync()
    let segments = order.segments ?? Self.segments(of: received.sha256, received.type)
    let lock = try uploads.lock(segments)
    defer { withExtendedLifetime(lock) {} }
    let old = try current(segments, order.method, order.fields)
    try beforePlacing(segments, received)
    try place(received, at: segments, over: old, order)
    quota.add(received.bytes - (old?.bytes ?? 0))
    let status = try folder.storage.status(of: segments)
    // Another server may have written the object since: the facts about ours do not apply to that one.
    try arrival.keep(
      status.mayHave(sha256: received.sha256) ? report?.truth : nil, of: segments, status)
    return Placed(
      segments: segments, isNew: old == nil, status: status, sha256: received.sha256,
      truth: report?.truth, isMended: isMended, warnings: warnings)
  }

  private func place(
    _ received: Received, at segments: [String], over old: MediaStatus?, _ order: Order
  ) throws {
    switch folder.storage {
    case .folder(let root): try received.upload.place(at: segments, in: root)
    case .bucket(let bucket):
      guard let file = OpenFile(received.upload.descriptor) else { throw ProbeError.notAFile }
      let isConditional = ["If-Match", "If-None-Match"].contains { order.fields.contains($0) }
      defer { folder.objects?.forget(segments) }
      do {
        try bucket.place(
          file, at: segments, type: received.type.type.value, sha256: received.sha256, over: old,
          isConditional: isConditional)
      } catch let error as MediaError where error.isConflict {
        throw Problem(
          .preconditionFailed, .preconditionFailed, "The file was changed meanwhile.")
      }
    }
  }

  /// The current file with this name, for which the conditions of the request hold.
  private func current(
    _ segments: [String], _ method: HTTP.Method, _ fields: Fields
  ) throws -> MediaStatus? {
    let status = try folder.storage.statusForPlacing(segments)
    for name in ["If-Match", "If-None-Match"] {
      if let value = fields.combined(name), EntityTagCondition(parsing: value) == nil {
        throw Problem(
          .preconditionFailed, .preconditionFailed,
          "\(name) is neither * nor a list of entity tags.")
      }
    }
    let now = WallClock.now
    let validator = status.map { FileValidator($0, now: now) }
    let outcome = Preconditions.evaluate(
      method, fields, current: validator?.entityTag,
      lastModifiedSeconds: validator?.modifiedSeconds, nowSecondsSince1970: now.secondsSince1970)
    guard outcome == .proceed else {
      throw Problem(
        .preconditionFailed, .preconditionFailed,
        validator.map { "The file exists, with the entity tag \($0.entityTag)." }
          ?? "There is no such file.")
    }
    return status
  }

  /// Analyzes the file; refuses a broken one. If a file cannot be analyzed, a warning says why.
  private func look(into received: inout Received) throws -> (ProbeReport?, warnings: [String]) {
    try received.upload.descriptor.setPermissions(0o644)
    guard let file = OpenFile(received.upload.descriptor) else { throw ProbeError.notAFile }
    decoders.wait { $0 > 0 ? ($0 -= 1) : nil }
    defer {
      decoders.withLock { $0 += 1 }
      decoders.notify()
    }
    do {
      let report = try arrival.report(of: file, sha256: received.sha256)
      return (report, report.notes.map(Self.words))
    } catch let error as ProbeError where error.isOfBrokenFile {
      throw Problem(
        .brokenMedia, .unprocessableContent, "The file is broken: \(error). Nothing is stored.")
    } catch ProbeError.system(let error) {
      throw error
    } catch let error as ProbeError {
      return (nil, ["the file could not be analyzed: \(error)"])
    }
  }

  /// The digests of a complete file.
  ///
  /// - Throws: `SystemError`, `ProbeError`.
  func digests(
    of file: OpenFile, withSHA512: Bool
  ) throws -> (sha256: [UInt8], sha512: [UInt8]?) {
    let sha256 = try arrival.digest(of: file)
    guard withSHA512 else { return (sha256, nil) }
    var sha512 = SHA512()
    var offset = 0
    while offset < file.size {
      let piece = try file.read(at: offset, count: Self.reservedBytes)
      if piece.isEmpty { break }
      sha512.update(piece)
      offset += piece.count
    }
    return (sha256, sha512.finalize())
  }

  private static func words(_ note: ProbeNote) -> String {
    guard note == .tablesBehind else { return note.description }
    return
      "moov is after the media data, so the beginning of the file alone does not start it; "
      + "upload it again with ?faststart=1, which moves moov to the front without loss"
  }

  /// Rewrites the file with its tables in front.
  private func mend(_ received: inout Received) throws {
    guard let file = OpenFile(received.upload.descriptor) else { throw ProbeError.notAFile }
    let mended = try uploads.begin()
    do {
      try Faststart.rewrite(file, to: mended.descriptor)
    } catch let error as FaststartError {
      throw Problem(
        .brokenMedia, .unprocessableContent,
        "faststart cannot rewrite the file: \(error). Nothing is stored.")
    }
    guard let new = OpenFile(mended.descriptor) else { throw ProbeError.notAFile }
    received.sha256 = try arrival.digest(of: new)
    received.upload = mended
    received.bytes = new.size
  }
}

extension Problem {
  /// - Parameter limit: the maximum number of listed items.
  fileprivate static func mediaInUse(_ items: [String], limit: Int) -> Problem {
    let first = items.prefix(3).map { "\"\($0.shortened(toBytes: 100))\"" }.joined(separator: ", ")
    let count = items.count > limit ? "more than \(limit)" : "\(items.count)"
    var problem = Problem(
      .mediaInUse, .conflict,
      "Items show the file, \(count) in all: \(first)\(items.count > 3 ? ", …" : ""). "
        + "DELETE with ?force=1 deletes it anyway.")
    problem.items = Array(items.prefix(limit))
    return problem
  }

  fileprivate static func quota(_ bytes: Int) -> Problem {
    Problem(
      .quotaExceeded, .insufficientStorage,
      "The media folder would exceed \(bytes) bytes (--media-quota-bytes).")
  }
}
