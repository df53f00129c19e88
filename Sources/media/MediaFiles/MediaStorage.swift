import ObjectStorage
import System

/// The place of media files: a folder, or a bucket of an object store.
package enum MediaStorage: Sendable {
  case folder(MediaRoot)
  case bucket(MediaBucket)

  /// The folder's path or the bucket's address.
  package var name: String {
    switch self {
    case .folder(let root): root.path
    case .bucket(let bucket): bucket.address.description
    }
  }

  /// The folder; nil for a bucket.
  package var root: MediaRoot? { if case .folder(let root) = self { root } else { nil } }
  /// The bucket; nil for a folder.
  package var bucket: MediaBucket? { if case .bucket(let bucket) = self { bucket } else { nil } }

  /// Returns the current status of the file with these path segments.
  ///
  /// - Parameter forClient: whether a client waits for the result.
  /// - Throws: `MediaError`.
  package func status(
    of segments: [String], forClient: Bool = false
  ) throws(MediaError) -> MediaStatus {
    switch self {
    case .folder(let root): MediaStatus(try root.status(of: segments))
    case .bucket(let bucket): try bucket.status(of: segments, forClient: forClient)
    }
  }

  /// Returns the status of the file with these path segments; nil if there is none.
  ///
  /// - Throws: `MediaPlaceError` if no file can be placed there, `MediaError`, `SystemError`.
  package func statusForPlacing(_ segments: [String]) throws -> MediaStatus? {
    switch self {
    case .folder(let root): try root.statusForPlacing(segments).map { MediaStatus($0) }
    case .bucket(let bucket): try bucket.statusForPlacing(segments)
    }
  }

  /// Deletes the file with these path segments. When the call returns, the deletion is durable.
  ///
  /// - Throws: `MediaError`, `SystemError`.
  package func delete(_ segments: [String]) throws {
    switch self {
    case .folder(let root): try root.delete(segments)
    case .bucket(let bucket): try bucket.delete(segments)
    }
  }

  /// Whether the storage contains nothing that may be served, or cannot be read, as with a missing mount.
  package var isEmpty: Bool {
    switch self {
    case .folder(let root): return root.isEmpty
    case .bucket(let bucket):
      var objects = MediaObjects(bucket, atOnce: 100)
      guard let first = try? objects.next() else { return true }
      return first.segments.isEmpty
    }
  }
}

/// The status of a media file in either storage.
package struct MediaStatus: Sendable, Hashable {
  /// The file's size.
  package let bytes: Int
  /// The time of the content's last change, or the one that a program set.
  package let modified: Moment
  /// A value that differs for each version of the file: for a file the time of its last change of any kind;
  /// for an object its time in seconds, with a hash of its entity tag as nanoseconds.
  package let changed: Moment
  /// The object's entity tag with its quotation marks; nil for a file.
  package let entityTag: String?
  /// The note that this program stored with the object; nil if unknown.
  let note: String?

  /// Whether the file may have this content: false only if its note has another hash.
  package func mayHave(sha256: [UInt8]) -> Bool {
    note.map { $0 == RequestSigner.hexadecimal(sha256) } ?? true
  }

  /// Creates the status of a file in a folder.
  package init(_ status: FileStatus) {
    bytes = status.bytes
    modified = status.modified
    changed = status.changed
    entityTag = nil
    note = nil
  }

  init(_ look: ObjectStore.Look) {
    self.init(
      bytes: look.bytes, seconds: look.modifiedSeconds, tag: look.entityTag, note: look.note)
  }

  init(_ object: ObjectStore.Object) {
    self.init(bytes: object.bytes, seconds: object.modifiedSeconds, tag: object.entityTag)
  }

  private init(bytes: Int, seconds: Int, tag: String, note: String? = nil) {
    self.bytes = bytes
    modified = Moment(secondsSince1970: seconds)
    // FNV-1a, which is the same in each process.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in tag.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    changed = Moment(secondsSince1970: seconds, nanoseconds: Int(hash % 1_000_000_000))
    entityTag = tag
    self.note = note
  }
}

/// Iterates over the files of a storage, in an order that stays the same.
package struct MediaListing: Sendable {
  private enum Source: Sendable {
    case walk(MediaWalk, MediaRoot)
    case objects(MediaObjects)
  }

  private var source: Source

  /// Lists the files after a path.
  ///
  /// - Parameters:
  ///   - name: the name of folders that are not entered.
  ///   - atOnce: the number of names read at a time.
  ///   - forClient: whether a client waits for the result.
  /// - Throws: `MediaError`.
  package init(
    _ storage: MediaStorage, after segments: [String] = [], passingOver name: String? = nil,
    atOnce: Int = MediaWalk.namesAtOnce, forClient: Bool = false
  ) throws(MediaError) {
    switch storage {
    case .folder(let root):
      source = .walk(
        try MediaWalk(root, after: segments, passingOver: name, namesAtOnce: atOnce), root)
    case .bucket(let bucket):
      source = .objects(
        MediaObjects(
          bucket, after: segments, passingOver: name, atOnce: atOnce, forClient: forClient))
    }
  }

  /// Returns the next file; nil at the end. Files of a folder whose status cannot be read are left out.
  ///
  /// - Throws: `MediaError`.
  package mutating func next() throws(MediaError) -> (segments: [String], status: MediaStatus)? {
    switch source {
    case .walk(var walk, let root):
      defer { source = .walk(walk, root) }
      while let step = walk.next() {
        // A file removed since its name was read is absent.
        guard case .file(let segments) = step, let status = try? root.status(of: segments) else {
          continue
        }
        return (segments, MediaStatus(status))
      }
      return nil
    case .objects(var objects):
      defer { source = .objects(objects) }
      return try objects.next()
    }
  }
}

/// Limits for requests to an object store with media files.
package struct MediaStoreSettings: Sendable, Hashable {
  /// The maximum number of concurrent requests for clients.
  package var reads = 32
  /// The maximum number of requests for clients that are in progress or waiting.
  package var readQueue = 1_024
  /// The maximum number of concurrent requests for uploads, lists and the index.
  package var writes = 16
  /// The maximum time of a request; while a file is transferred, the maximum time without a byte.
  package var timeoutMilliseconds = 10_000
  /// The number of bytes of an object requested at a time.
  package var pieceBytes = 256 << 10
  /// The memory for the first bytes of objects.
  package var headMemoryBytes = 32 << 20
  /// The time for which the status of an object is trusted.
  package var lookMilliseconds = 2_000

  /// Creates the default settings.
  package init() {}
}

extension MediaStoreSettings {
  /// The settings that an operator can change, in the group of media files.
  package static let numbers: [SettableNumber<Self>] = [
    .init(
      "media-store-reads", 1...1024, \.reads,
      "Maximum number of requests to a bucket for clients at once; others wait."),
    .init(
      "media-store-read-queue", 1...1_000_000, \.readQueue,
      "Maximum number of clients' requests that read a bucket or wait; one more gets 503."),
    .init(
      "media-store-writes", 1...1024, \.writes,
      "Maximum number of requests to a bucket at once for uploads, lists and probing."),
    .init(
      "media-store-timeout-milliseconds", 100...Most.dayMilliseconds, \.timeoutMilliseconds,
      "Time for a request to a bucket; while a file is transferred, time without a byte."),
    .init(
      "media-piece-bytes", 4096...(64 << 20), \.pieceBytes,
      "Length of the pieces in which a bucket is read; a connection holds at most two."),
    .init(
      "media-head-memory-bytes", 0...Most.tebibyte, \.headMemoryBytes,
      "Memory for the first 64 KiB of objects."),
    .init(
      "media-look-milliseconds", 0...Most.dayMilliseconds, \.lookMilliseconds,
      "Time for which the version of a cached object is trusted; then the bucket is asked."),
  ]
}

extension MediaStorage {
  /// For clients that wait, a second try comes soon or not at all.
  private static let (readTries, readPauseMilliseconds) = (2, 100)

  /// Opens the folder at a path, or the bucket at an address.
  ///
  /// - Parameter environment: the variables with the bucket's settings.
  /// - Throws: `MediaError` for a folder that cannot be used, `ObjectStoreError` for an
  ///   invalid address or environment.
  package static func open(
    _ text: String, _ settings: MediaStoreSettings = MediaStoreSettings(),
    environment: [String: String], cancellation: Cancellation = Cancellation()
  ) throws -> MediaStorage {
    guard ObjectAddress.isOne(text) else { return .folder(try MediaRoot(path: text)) }
    let address = try ObjectAddress(text)
    var reading = try ObjectStore.Settings(environment: environment)
    reading.answerMilliseconds = settings.timeoutMilliseconds
    reading.requestMilliseconds = settings.timeoutMilliseconds
    reading.stallMilliseconds = settings.timeoutMilliseconds
    var writing = reading
    reading.connections = settings.reads
    reading.tries = readTries
    reading.pauseMilliseconds = readPauseMilliseconds
    writing.connections = settings.writes
    writing.requestMilliseconds = ObjectStore.Settings.usualRequestMilliseconds
    return .bucket(
      MediaBucket(
        reading: ObjectStore(address, reading, cancellation: cancellation),
        writing: ObjectStore(address, writing, cancellation: cancellation)))
  }
}
