import ObjectStorage
import System

/// The objects with an address's prefix, as media files. The path of each is its key after the prefix.
///
/// An object has no parent folders, is written as a whole, and has an entity tag that identifies its version.
/// Names that a folder would not serve (hidden, too long, empty segments) are not served here either.
package struct MediaBucket: Sendable {
  /// The maximum length of a key in S3.
  private static let keyBytes = 1_024

  /// The client for requests that readers wait for: few tries, within a short time.
  package let reading: ObjectStore
  /// The client for uploads, lists and the index.
  package let writing: ObjectStore

  /// Creates a bucket; both clients have the same address.
  package init(reading: ObjectStore, writing: ObjectStore) {
    self.reading = reading
    self.writing = writing
  }

  /// `s3://bucket/prefix/`
  package var address: ObjectAddress { writing.address }

  /// Returns the key of the object with these path segments.
  ///
  /// - Throws: `MediaError.notFound` if the path is not served.
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

  /// Returns the path segments of an object; nil if it is not served.
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

  /// Checks that the bucket is readable, so that a wrong key or bucket is an error at the start.
  ///
  /// - Throws: `ObjectStoreError`.
  package func requireUsable() throws(ObjectStoreError) {
    _ = try reading.list(after: nil, limit: 1)
  }

  /// Returns the status of the object with these path segments.
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

  /// Reads bytes of an object; with a tag, of that version only.
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

  /// Stores a complete file with this content, in place of the object with this name.
  ///
  /// - Parameters:
  ///   - old: the object with this name; nil if there is none.
  ///   - isConditional: whether `old` must still be current; stores without conditional
  ///     writes write in any case.
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

  /// Whether `place` wrote the object with this content.
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

  /// Returns the status of the object with these path segments; nil if there is none.
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

  /// Deletes an object.
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

  /// Aborts multipart uploads that began before this time. Killed servers leave their parts behind,
  /// for which stores charge.
  ///
  /// - Returns: the number of such uploads.
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

/// Iterates over the served objects of a bucket, in the byte order of their keys; holds one
/// page of the list in memory.
package struct MediaObjects: Sendable {
  /// The number of objects in a page of the list: S3's maximum.
  package static let objectsAtOnce = 1_000

  private let bucket: MediaBucket
  private let store: ObjectStore
  private let atOnce: Int
  private let below: [String]
  private let passedOver: String?
  /// The next objects, in reverse order.
  private var objects: [ObjectStore.Object] = []
  private var lastKey: String?
  private var isComplete = false

  /// Lists the objects after a path, or all of them.
  ///
  /// - Parameters:
  ///   - folder: the leading path segments of the objects.
  ///   - name: the name of a folder whose objects are skipped.
  ///   - atOnce: the number of objects in a page of the list.
  ///   - forClient: whether a client waits for the result.
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

  /// Returns the next object; nil at the end.
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
      // Compare bytes: Unicode-equivalent names are different names.
      guard segments.count > below.count,
        zip(segments, below).allSatisfy({ $0.utf8.elementsEqual($1.utf8) })
      else {
        // Objects below the folder are contiguous.
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
