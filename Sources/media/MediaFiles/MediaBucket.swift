import ObjectStorage
import System

/// The objects below an address, as media files: the path of each is its key behind the prefix.
///
/// An object has no folders above it, is written as a whole, and is told from others by its entity tag. Names that no folder
/// would serve (hidden, too long, nothing between slashes) are not served here either.
package struct MediaBucket: Sendable {
  /// How long a key may be in S3.
  private static let keyBytes = 1_024

  /// For clients that wait: few tries, within a short time.
  package let reading: ObjectStore
  /// For uploads, lists and the index.
  package let writing: ObjectStore

  /// The objects of a store, of which both have the same address.
  package init(reading: ObjectStore, writing: ObjectStore) {
    self.reading = reading
    self.writing = writing
  }

  /// `s3://bucket/prefix/`
  package var address: ObjectAddress { writing.address }

  /// The key of the object with these path segments.
  ///
  /// - Throws: `MediaError.notFound` for what is not served.
  package func key(_ segments: [String]) throws(MediaError) -> String {
    try MediaRoot.check(segments)
    guard !segments.isEmpty else { throw .notFound(.notRegularFile) }
    let key = plainKey(segments)
    guard key.utf8.count <= Self.keyBytes else {
      throw .notFound(.nameNotServed(index: segments.count - 1))
    }
    return key
  }

  private func plainKey(_ segments: [String]) -> String {
    address.prefix + segments.joined(separator: "/")
  }

  /// The path segments of an object; nil where it is not served.
  func segments(ofKey key: String) -> [String]? {
    let prefix = address.prefix.utf8
    guard key.utf8.starts(with: prefix) else { return nil }
    let segments = key.utf8.dropFirst(prefix.count)
      .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { String(Substring($0)) }
    do throws(MediaError) {
      try MediaRoot.check(segments)
      return segments
    } catch {
      return nil
    }
  }

  /// Sees that it can be read: a wrong key or bucket is an error at the start.
  ///
  /// - Throws: `ObjectStoreError`.
  package func requireUsable() throws(ObjectStoreError) {
    _ = try reading.list(after: nil, limit: 1)
  }

  /// What is said of the object with these path segments.
  ///
  /// - Throws: `MediaError`.
  package func status(
    of segments: [String], forClient: Bool = false
  ) throws(MediaError) -> MediaStatus {
    let key = try key(segments)
    let store = forClient ? reading : writing
    do throws(ObjectStoreError) {
      if let look = try store.look(at: key) { return MediaStatus(look) }
    } catch {
      throw .store(error)
    }
    throw .notFound(.noSuchFile)
  }

  /// Bytes of an object, of the version with this tag where one is named.
  ///
  /// - Throws: `MediaError`.
  package func read(
    _ segments: [String], _ range: Range<Int>, of tag: String? = nil, forClient: Bool = false
  ) throws(MediaError) -> (status: MediaStatus, bytes: [UInt8]) {
    let key = try key(segments)
    let store = forClient ? reading : writing
    do throws(ObjectStoreError) {
      if let piece = try store.read(key, range, of: tag) {
        return (MediaStatus(piece.look), piece.bytes)
      }
    } catch {
      throw .store(error)
    }
    throw .notFound(.noSuchFile)
  }

  /// Puts a file there, which is whole and has this content, in place of what had the name.
  ///
  /// - Parameters:
  ///   - old: what has the name; nil where nothing does.
  ///   - isConditional: whether it must still be so: stores that do not know conditions write in any case.
  /// - Throws: `MediaError`, `SystemError`, `MediaPlaceError`.
  package func place(
    _ file: OpenFile, at segments: [String], type: String, sha256: [UInt8], over old: MediaStatus?,
    isConditional: Bool
  ) throws {
    let condition: ObjectStore.Condition =
      !isConditional ? .none : old?.entityTag.map { .tag($0) } ?? .absent
    do {
      try writing.put(
        file, as: placingKey(segments), type: type, note: Self.note(sha256), if: condition)
    } catch let error as ObjectStoreError {
      throw MediaError.store(error)
    }
  }

  /// Whether the object was made by `place` of this content.
  ///
  /// - Throws: `MediaError`.
  package func holds(_ sha256: [UInt8], at segments: [String]) throws(MediaError) -> Bool {
    do throws(MediaError) {
      return try status(of: segments).note == Self.note(sha256)
    } catch {
      guard case .notFound = error else { throw error }
      return false
    }
  }

  private static func note(_ sha256: [UInt8]) -> String { RequestSigner.hexadecimal(sha256) }

  private func placingKey(_ segments: [String]) throws(MediaPlaceError) -> String {
    guard !segments.isEmpty else { throw .noName }
    let key = plainKey(segments)
    guard key.utf8.count <= Self.keyBytes else {
      throw .longKey(bytes: key.utf8.count, limit: Self.keyBytes)
    }
    return key
  }

  /// What is said of the object with these path segments; nil where there is none.
  ///
  /// - Throws: `MediaError`, `MediaPlaceError`.
  func statusForPlacing(_ segments: [String]) throws -> MediaStatus? {
    let key = try placingKey(segments)
    do throws(ObjectStoreError) {
      return try writing.look(at: key).map { MediaStatus($0) }
    } catch {
      throw MediaError.store(error)
    }
  }

  /// Takes an object away.
  ///
  /// - Throws: `MediaError`.
  func delete(_ segments: [String]) throws(MediaError) {
    let key = try key(segments)
    do throws(ObjectStoreError) {
      try writing.delete(key)
    } catch {
      throw .store(error)
    }
  }

  /// Takes away what came of uploads in parts that were begun so long ago: killed servers leave them, and stores ask
  /// money for them.
  ///
  /// - Returns: how many there were.
  /// - Throws: `ObjectStoreError`.
  package func abortUnfinished(
    begunBefore seconds: Int, isDry: Bool = false
  ) throws(ObjectStoreError) -> Int {
    var count = 0
    for upload in try writing.unfinished(begunBefore: seconds) {
      if !isDry { try writing.abort(upload) }
      count += 1
    }
    return count
  }
}

/// Goes through the objects of a bucket that are served, in the order of the bytes of their keys; a page of the list is in
/// memory at a time.
package struct MediaObjects: Sendable {
  /// How many of a list are asked for at once, as S3 limits it.
  package static let objectsAtOnce = 1_000

  private let bucket: MediaBucket
  private let store: ObjectStore
  private let atOnce: Int
  private let below: [String]
  private let passedOver: String?
  /// The next ones, the last one first.
  private var objects: [ObjectStore.Object] = []
  private var lastKey: String?
  private var isComplete = false

  /// The objects behind a path, or all of them.
  ///
  /// - Parameters:
  ///   - folder: the path segments with which theirs begin.
  ///   - name: a segment of those that are passed over.
  ///   - atOnce: how many of the list are asked for at once.
  ///   - forClient: whether a client waits for it.
  package init(
    _ bucket: MediaBucket, below folder: [String] = [], after segments: [String] = [],
    passingOver name: String? = nil, atOnce: Int = objectsAtOnce, forClient: Bool = false
  ) {
    self.bucket = bucket
    store = forClient ? bucket.reading : bucket.writing
    below = folder
    passedOver = name
    self.atOnce = min(max(atOnce, 1), Self.objectsAtOnce)
    let prefix = bucket.address.prefix
    if !segments.isEmpty {
      lastKey = prefix + segments.joined(separator: "/")
    } else if !folder.isEmpty {
      lastKey = prefix + folder.joined(separator: "/") + "/"
    }
  }

  /// What comes next; nil at the end.
  ///
  /// - Throws: `MediaError`.
  package mutating func next() throws(MediaError) -> (segments: [String], status: MediaStatus)? {
    while true {
      guard let object = objects.popLast() else {
        guard !isComplete else { return nil }
        try readPage()
        continue
      }
      guard let segments = bucket.segments(ofKey: object.key) else { continue }
      // By bytes: another spelling of the same letters is another name.
      guard segments.count > below.count,
        zip(segments, below).allSatisfy({ $0.utf8.elementsEqual($1.utf8) })
      else {
        // All below the folder stand together.
        isComplete = !below.isEmpty
        objects = below.isEmpty ? objects : []
        continue
      }
      let isPassedOver = segments.dropLast().contains { segment in
        passedOver.map { $0.utf8.elementsEqual(segment.utf8) } ?? false
      }
      if !isPassedOver { return (segments, MediaStatus(object)) }
    }
  }

  private mutating func readPage() throws(MediaError) {
    do throws(ObjectStoreError) {
      let page = try store.list(after: lastKey, limit: atOnce)
      lastKey = page.objects.last?.key ?? lastKey
      objects = page.objects.reversed()
      isComplete = !page.hasMore
    } catch {
      throw .store(error)
    }
  }
}
