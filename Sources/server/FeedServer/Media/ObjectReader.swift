import Compression
import HTTPServer
import MediaFiles
import MediaFormats
import Observability
import System

/// An object as of a look at the store, with its first bytes.
struct FoundObject: Sendable {
  let segments: [String]
  let status: MediaStatus
  /// As many bytes as were asked for, or the whole object if it is shorter.
  let head: [UInt8]
  let lookedMilliseconds: UInt64
}

/// Reads the objects of a bucket for clients, on threads of its own.
///
/// Theory of operation. The first bytes of an object are read before the head of an answer is written: they
/// tell its type and version, and are most of what clients ask for, as the start of a clip is there. They are
/// cached within a byte budget, and checked again after a while. The bytes behind them are fetched piece by
/// piece while the answer is sent (`ObjectBody`). Each piece is of the version that the answer's head names,
/// or the connection ends. So no client holds more than two pieces, and no thread waits for a client.
final class ObjectReader: Sendable {
  let bucket: MediaBucket
  fileprivate let pieceBytes: Int
  private let pool: WorkerPool
  private let queue: Int
  private let lookMilliseconds: UInt64
  private let heads: ByteBudgetCache<String, FoundObject>

  /// The number of first bytes to read: enough to start nearly every clip.
  private static let headBytes = 65_536

  init(_ bucket: MediaBucket, _ settings: MediaStoreSettings) {
    self.bucket = bucket
    pieceBytes = settings.pieceBytes
    // Each connection fetches at most one piece at a time: the limit of connections bounds the queue.
    pool = WorkerPool(threads: settings.reads, limit: .max)
    queue = settings.readQueue
    lookMilliseconds = UInt64(settings.lookMilliseconds)
    heads = ByteBudgetCache(maximumBytes: settings.headMemoryBytes)
  }

  /// Registers its figures.
  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_media_store_reads",
      help: "Reads from the object store for clients, running or waiting."
    ) { self.pool.count }
    registry.gauge(
      "lookahead_media_heads_bytes", help: "Memory for the beginnings of objects."
    ) { self.heads.figures.bytes }
    registry.total(
      "lookahead_media_heads_hits_total", help: "Reads of objects whose beginning was in memory."
    ) { self.heads.figures.hits }
    registry.total(
      "lookahead_media_heads_misses_total",
      help: "Reads of objects whose beginning was not in memory."
    ) { self.heads.figures.misses }
  }

  /// Finds an object: at once if the last look was a moment ago, else on another thread.
  ///
  /// - Throws: `Problem` 503 if too many requests wait, `MediaError.notFound` for what is never served.
  func find(
    _ segments: [String],
    completion: @escaping @Sendable (Result<FoundObject, any Error>) -> Void
  ) throws {
    let key = try bucket.key(segments)
    let known = heads.value(for: key)
    if let known, MonotonicClock.milliseconds - known.lookedMilliseconds < lookMilliseconds {
      return completion(.success(known))
    }
    try run { [self] in completion(Result { try look(segments, key, known) }) }
  }

  /// Runs work that waits for the store or the database.
  ///
  /// - Throws: `Problem` 503 if too much work waits.
  func run(_ work: @escaping @Sendable () -> Void) throws {
    guard pool.count < queue, pool.run(work) else {
      throw Problem(
        .overloaded, .serviceUnavailable, "Too many requests wait for the object store.")
    }
  }

  /// Removes an object from the cache, because the store has another version by now.
  func forget(_ segments: [String]) {
    if let key = try? bucket.key(segments) { heads.remove(key) }
  }

  private func look(
    _ segments: [String], _ key: String, _ known: FoundObject?
  ) throws(MediaError) -> FoundObject {
    let now = MonotonicClock.milliseconds
    if let known, try bucket.status(of: segments, forClient: true) == known.status {
      let found = FoundObject(
        segments: segments, status: known.status, head: known.head, lookedMilliseconds: now)
      heads.insert(found, for: key, bytes: known.head.count)
      return found
    }
    let (status, head) = try bucket.read(segments, 0..<Self.headBytes, forClient: true)
    let found = FoundObject(
      segments: segments, status: status, head: head, lookedMilliseconds: now)
    heads.insert(found, for: key, bytes: head.count)
    return found
  }

  fileprivate func bring(
    _ range: Range<Int>, of object: FoundObject,
    _ completion: @escaping @Sendable ([UInt8]?) -> Void
  ) {
    let isTaken = pool.run { [self] in
      do throws(MediaError) {
        completion(
          try bucket.read(
            object.segments, range, of: object.status.entityTag, forClient: true
          ).bytes)
      } catch {
        forget(object.segments)
        completion(nil)
      }
    }
    if !isTaken { completion(nil) }
  }

  /// The bytes of an object in this range: those in memory, and a source for the rest.
  func parts(_ range: Range<Int>, of object: FoundObject) -> [Response.Part] {
    let here = range.clamped(to: 0..<object.head.count)
    guard range.lowerBound < object.head.count else {
      return [.pieces(ObjectBody(reader: self, object: object), range)]
    }
    let first = Response.Part.bytes(Array(object.head[here]))
    guard here.upperBound < range.upperBound else { return [first] }
    return [
      first,
      .pieces(ObjectBody(reader: self, object: object), here.upperBound..<range.upperBound),
    ]
  }
}

/// The bytes of an object behind the first ones.
private struct ObjectBody: PieceSource {
  let reader: ObjectReader
  let object: FoundObject

  var pieceBytes: Int { reader.pieceBytes }

  func read(_ range: Range<Int>, _ completion: @escaping @Sendable ([UInt8]?) -> Void) {
    reader.bring(range, of: object, completion)
  }
}

/// The way in which clients get the files of a bucket.
package enum MediaDelivery: String, CaseIterable, Sendable {
  /// From this server, piece by piece.
  case through
  /// From the store: `/media/…` redirects to a signed URL there.
  case redirect
  /// From the store: items name its signed URLs, and `/media/…` redirects to them.
  case direct
}

/// Signed URLs with which clients get objects from the store itself.
struct ObjectLinks: Sendable {
  let bucket: MediaBucket
  let leastSeconds: Int
  let stepSeconds: Int
  /// The clock: seconds since 1970.
  let now: @Sendable () -> Int

  /// The second since 1970 at which a URL handed out now expires.
  var expiry: Int {
    MediaSigner.expiry(now: now(), leastSeconds: leastSeconds, stepSeconds: stepSeconds)
  }

  /// The seconds until a URL expires.
  func secondsLeft(of expires: Int) -> Int { max(0, expires - now()) }

  /// The URL of an object that expires then, the same for all handed out within a step. The store sends the
  /// type by the object's name, whatever type it was stored with: never anything that runs.
  func url(_ method: String, _ segments: [String], expires: Int) -> String? {
    guard let key = try? bucket.key(segments) else { return nil }
    let seconds = leastSeconds + stepSeconds
    let type = UploadedName(segments.last ?? "").usualType
    var query = [("response-content-type", type ?? "application/octet-stream")]
    if type == nil { query.append(("response-content-disposition", "attachment")) }
    return bucket.reading.signedURL(
      method, key, query: query.map { ($0.0, $0.1) }, secondsSince1970: expires - seconds,
      forSeconds: seconds)
  }
}
