import ObjectStorage
import System

/// Where media files lie: in a folder, or in a bucket of an object store.
package enum MediaStorage: Sendable {
  case folder(MediaRoot)
  case bucket(MediaBucket)

  /// What it is called.
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

  /// What is said of the file with these path segments, now.
  ///
  /// - Parameter forClient: whether a client waits for it.
  /// - Throws: `MediaError`.
  package func status(
    of segments: [String], forClient: Bool = false
  ) throws(MediaError) -> MediaStatus {
    switch self {
    case .folder(let root): MediaStatus(try root.status(of: segments))
    case .bucket(let bucket): try bucket.status(of: segments, forClient: forClient)
    }
  }

  /// What is said of the file with these path segments; nil where there is nothing.
  ///
  /// - Throws: `MediaPlaceError` where no file can be placed there, `MediaError`, `SystemError`.
  package func statusForPlacing(_ segments: [String]) throws -> MediaStatus? {
    switch self {
    case .folder(let root): try root.statusForPlacing(segments).map { MediaStatus($0) }
    case .bucket(let bucket): try bucket.statusForPlacing(segments)
    }
  }

  /// Takes the file with these path segments away. When it returns, that is durable.
  ///
  /// - Throws: `MediaError`, `SystemError`.
  package func delete(_ segments: [String]) throws {
    switch self {
    case .folder(let root): try root.delete(segments)
    case .bucket(let bucket): try bucket.delete(segments)
    }
  }

  /// Whether it holds nothing that may be served, or cannot be read: as a mount that is not there.
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

/// What is said of a media file, wherever it lies.
package struct MediaStatus: Sendable, Hashable {
  /// Its size.
  package let bytes: Int
  /// When its content last changed, or the time that a program set.
  package let modified: Moment
  /// Another one for each version of the file: of a file when anything of it last changed, of an object its time in
  /// seconds and behind that a hash of its entity tag.
  package let changed: Moment
  /// What the object store tells its versions by, with its quotation marks; nil of a file.
  package let entityTag: String?
  /// What was kept with an object when it was put there from here; nil where it is not known.
  let note: String?

  /// Whether it may be of this content: what is known with an object does not say otherwise.
  package func mayHave(sha256: [UInt8]) -> Bool {
    note.map { $0 == RequestSigner.hexadecimal(sha256) } ?? true
  }

  /// That of a file.
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
    // FNV-1a: the same in each process.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in tag.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    changed = Moment(secondsSince1970: seconds, nanoseconds: Int(hash % 1_000_000_000))
    entityTag = tag
    self.note = note
  }
}

/// Goes through the files of a media root, wherever they lie, in one order that stays the same.
package struct MediaListing: Sendable {
  private enum Source: Sendable {
    case walk(MediaWalk, MediaRoot)
    case objects(MediaObjects)
  }

  private var source: Source

  /// The files behind a path.
  ///
  /// - Parameters:
  ///   - name: what folders are called that are not entered.
  ///   - atOnce: how many names are read at a time.
  ///   - forClient: whether a client waits for it.
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

  /// What comes next; nil at the end. Of a folder, what cannot be looked at is left out.
  ///
  /// - Throws: `MediaError`.
  package mutating func next() throws(MediaError) -> (segments: [String], status: MediaStatus)? {
    switch source {
    case .walk(var walk, let root):
      defer { source = .walk(walk, root) }
      while let step = walk.next() {
        // What went since its name was read is not there.
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

/// Within which limits an object store is asked for media files.
package struct MediaStoreSettings: Sendable, Hashable {
  /// How many requests for clients are under way at once.
  package var reads = 32
  /// How many of clients may be under way or wait for that.
  package var readQueue = 1_024
  /// How many of uploads, of lists and of the index are under way at once.
  package var writes = 16
  /// How long one may take; of those that bring or take a file, for how long nothing may come or go.
  package var timeoutMilliseconds = 10_000
  /// How many bytes of an object are asked for at once.
  package var pieceBytes = 256 << 10
  /// How much memory the beginnings of objects may take.
  package var headMemoryBytes = 32 << 20
  /// For how long what was said of an object counts.
  package var lookMilliseconds = 2_000

  /// The settings as they usually are.
  package init() {}
}

extension MediaStoreSettings {
  /// What an operator can set: media files.
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

  /// The folder at a path, or the bucket of an address.
  ///
  /// - Parameter environment: whose the bucket is.
  /// - Throws: `MediaError` for a folder that cannot be used, `ObjectStoreError` for an address or an environment that is none.
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
