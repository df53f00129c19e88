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

/// Takes media files in.
///
/// Theory of operation. The bytes go to a file in `UploadFolder`, which is not served, as they come. When all are there,
/// the file is compared with the digests that the client sent, mended if that was asked for, looked into, and brought
/// to the disk. Then it gets its name at once (`rename(2)`), while no other upload may touch that name, and what was
/// found out is stored: the answer has it, and so has every page from then on. Whatever goes wrong before, nothing is
/// left; behind a process that is killed, the next one removes it. Where the files lie in a bucket, `UploadFolder` is in a
/// folder of this machine, and the whole file goes to the bucket in parts, where it is seen when the last has come.
final class MediaUploads: Sendable {
  /// What a request asks for, told from its head.
  struct Order: Sendable {
    /// Where the file is to be; nil where its content names it.
    let segments: [String]?
    let digests: DigestFields
    /// Whether tables behind the media data are brought to the front.
    let isFaststart: Bool
    let method: HTTP.Method
    let fields: Fields

    /// The type of a file that begins so, and is to be there.
    ///
    /// - Throws: `UploadedTypeError`.
    func type(ofHead head: [UInt8]) throws -> UploadedType {
      guard let segments else { return try UploadedType(head: head) }
      return try UploadedType(head: head, name: segments.last ?? "")
    }
  }

  /// What came of it.
  struct Placed: Sendable {
    let segments: [String]
    let isNew: Bool
    let status: MediaStatus
    let sha256: [UInt8]
    /// Nil where nothing could be told of it.
    let truth: MediaTruth?
    let isMended: Bool
    let warnings: [String]
  }

  /// How much of a body without a length is set aside at a time.
  private static let reservedBytes = 1 << 20

  let folder: MediaFolder
  let pool: WorkerPool
  let maximumBytes: Int
  let uploads: UploadFolder
  private let arrival: MediaArrival
  private let spool: MediaRoot
  private let quota: MediaQuota
  /// When it was last looked for what is unfinished in a bucket.
  private let abortedMilliseconds = Monitor<UInt64?>(nil)
  /// For how long an upload in parts is let be that a killed server left in a bucket.
  private let unfinishedSeconds: Int
  /// How many files may be looked into at once.
  private let decoders: Monitor<Int>

  /// Nil where there is nowhere to keep uploads until they are whole.
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

  /// Removes what killed processes left, and says why nothing can be taken in, where that is so.
  func begin(_ logger: Logger) {
    do {
      try FileSystem.require([.writing, .entering], spool.path)
      let removed = try uploads.sweep()
      if removed > 0 { logger.notice("removed \(removed) unfinished uploads of media files") }
    } catch {
      logger.error("uploads of media files are refused (403): \(error)")
    }
  }

  /// How often it is looked for what is unfinished in a bucket: stores charge for each look.
  private static let abortMilliseconds: UInt64 = 3_600_000

  /// Takes away from a bucket what killed servers left there of uploads in parts, and what could not be taken away when
  /// the store was gone; where that was not done a while ago.
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

  /// How many uploads and deletions run or wait.
  var count: Int { pool.count }

  /// Looks before the body is read whether it can be of use, as far as no event loop has to wait for that.
  ///
  /// - Throws: `Problem` 412 where the conditions do not hold of what has the name now, 409 where no file can have it.
  func check(_ order: Order) throws {
    guard folder.storage.bucket == nil, let segments = order.segments else { return }
    _ = try current(segments, order.method, order.fields)
  }

  /// The same, of a bucket, on a thread that may wait.
  func checkStored(_ order: Order) throws {
    guard folder.storage.bucket != nil, let segments = order.segments else { return }
    _ = try current(segments, order.method, order.fields)
  }

  /// How many of the items that name a file are told.
  private static let toldItems = 100

  /// Removes the file that has the name, and stores that there is none; waits for the disk.
  ///
  /// - Throws: `MediaError.notFound` where there is none, `Problem` as `check` does, and 409 where items name it and it
  ///   is not deleted by force; `SystemError`, what the store throws.
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

  /// The name of a content: none has that of another.
  private static func segments(of sha256: [UInt8], _ type: UploadedType) -> [String] {
    let digits = sha256.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return ["content", String(digits.prefix(2)), "\(digits).\(type.usualExtension)"]
  }

  /// Takes in the body, and gives it its name; waits for the client, the disk and the decoder.
  func take(_ body: BodyStream?, length: Int?, _ order: Order) throws -> Placed {
    try checkStored(order)
    let received = try receive(body, length: length, order)
    defer { quota.release(received.reserved) }
    try order.digests.check(sha256: received.sha256, sha512: received.sha512)
    return try finish(received, order)
  }

  /// A file as it came.
  struct Received {
    var upload: UploadFile
    let type: UploadedType
    var bytes: Int
    var sha256: [UInt8]
    var sha512: [UInt8]?
    /// How many bytes of the quota are set aside for it.
    var reserved = 0
  }

  /// Sets bytes of the quota aside as long as `body` is at work.
  ///
  /// - Throws: `Problem` 507 where fewer are free, and what `body` throws.
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
          // What is not taken is refused before the rest of it is sent.
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

  /// Looks into a file that is there as a whole, and gives it its name.
  ///
  /// - Parameter beforePlacing: called when nothing but the name is missing, with what will have it.
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
    // Another server may have written the object since: what is known of ours says nothing of that.
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

  /// What has the name that is asked for; the conditions of the request hold of it.
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

  /// What the file is; refuses what is broken. Of a file of which nothing can be told, a warning says why.
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

  /// The digests of a file that is there as a whole.
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

  /// Writes the file anew, with its tables in front.
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
  /// - Parameter limit: how many items are told.
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
