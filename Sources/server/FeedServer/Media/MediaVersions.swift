import Catalog
import JSON
import MediaIndex
import MediaProbe
import Synchronization
import System

/// Tells which content a media file has at this moment.
///
/// Theory of operation. A promise for a year must be true: a file of at most `comparedBytes` is read for each
/// answer, since a program that writes through `mmap` changes it without a new time (`st_ctim` is set when a
/// page becomes dirty, on tmpfs never). For a larger file, a known content holds as long as the file, its
/// size and its time of change are the same: from memory, from the store, or by reading the file. Threads of
/// their own read. The content of a file above `maximumReadBytes` is unknown until the index has it.
final class MediaVersions: Sendable {
  /// A content, and whether the file has just been read to compare it.
  struct Found: Sendable {
    let content: ContentAddress
    let isCompared: Bool
  }

  /// The identity of a file, with its size and time of change.
  private struct Stamp: Hashable {
    let file: FileStatus.Number
    let bytes: Int
    let changed: Moment

    init(_ file: OpenFile) {
      self.file = file.number
      bytes = file.size
      changed = file.changed
    }
  }

  /// The maximum number of known files, some ten MB; beyond it the cache is cleared.
  private static let maximumFiles = 1 << 16
  /// The maximum number of requests that wait for files to be read, each with its file open.
  private static let maximumWaiting = 1_024
  /// The number of files that are read at once.
  private static let threads = 2
  /// The maximum size of a file that is read: this takes a second or two.
  static let maximumReadBytes = 1 << 30

  private let store: any MediaStore
  private let comparedBytes: Int
  private let known = Mutex<[Stamp: ContentAddress]>([:])
  private let readers = WorkerPool(threads: threads, limit: maximumWaiting)

  /// - Parameter comparedBytes: a file of at most this many bytes is read for each answer.
  init(store: any MediaStore, comparedBytes: Int) {
    self.store = store
    self.comparedBytes = comparedBytes
  }

  /// Passes the content of the file at this path, or `nil` if it is unknown: at once if it is in memory, else
  /// on another thread.
  ///
  /// - Throws: `Problem` 503 if too many requests wait.
  func whenKnown(
    _ file: OpenFile, _ segments: [String],
    completion: @escaping @Sendable (Result<Found?, any Error>) -> Void
  ) throws {
    let isCompared = file.size <= comparedBytes
    let stamp = Stamp(file)
    @Sendable func remembered() -> ContentAddress? {
      isCompared ? nil : known.withLock { $0[stamp] }
    }
    if let content = remembered() {
      return completion(.success(Found(content: content, isCompared: false)))
    }
    let isTaken = readers.run { [self] in
      completion(
        Result {
          if isCompared { return try read(file).map { Found(content: $0, isCompared: true) } }
          // An earlier request may have found the same content.
          if let content = remembered() { return Found(content: content, isCompared: false) }
          guard let content = try find(file, segments) else { return nil }
          known.withLock { known in
            if known.count >= Self.maximumFiles { known = [:] }
            known[stamp] = content
          }
          return Found(content: content, isCompared: false)
        })
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many files wait to be checked.")
    }
  }

  /// The content of an object that this database knows, if it is still that version; else `nil`.
  func content(of object: FoundObject) throws -> ContentAddress? {
    guard let url = MediaAddresses.served.urls(of: object.segments).first,
      let known = try store.media(at: [url])[0], known.truth.bytes == object.status.bytes,
      known.changedNanoseconds == Int64(object.status.changed.nanosecondsSince1970),
      case .content(let sha256)? = known.truth.version
    else { return nil }
    return ContentAddress(sha256: sha256)
  }

  private func find(_ file: OpenFile, _ segments: [String]) throws -> ContentAddress? {
    let changed = Int64(file.changed.nanosecondsSince1970)
    if let url = MediaAddresses.served.urls(of: segments).first,
      let known = try store.media(at: [url])[0],
      known.truth.bytes == file.size, known.changedNanoseconds == changed,
      case .content(let sha256)? = known.truth.version
    {
      return ContentAddress(sha256: sha256)
    }
    return file.size <= Self.maximumReadBytes ? try read(file) : nil
  }

  private func read(_ file: OpenFile) throws(ProbeError) -> ContentAddress? {
    do throws(ProbeError) {
      return ContentAddress(sha256: try MediaProbe().digest(of: file))
    } catch {
      // A program is writing the file, so it has no content yet.
      if case .changed = error { return nil }
      throw error
    }
  }
}

/// The name of a content in URLs: the first 128 bits of its SHA-256, as printed by `sha256sum`.
struct ContentAddress: Hashable, Sendable {
  fileprivate let high: UInt64
  fileprivate let low: UInt64

  /// The address of the content with this SHA-256, 32 bytes.
  init(sha256: [UInt8]) {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    high = number(sha256[..<8])
    low = number(sha256[8..<16])
  }

  /// Parses `text`; `nil` unless it is 32 hexadecimal digits in lower case.
  init?(text: String) {
    let isDigits = text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
    }
    guard text.utf8.count == 32, isDigits, let high = UInt64(text.prefix(16), radix: 16),
      let low = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    (self.high, self.low) = (high, low)
  }

  /// 32 hexadecimal digits.
  var text: String {
    String(decoding: [UInt8](capacity: Self.textBytes) { $0.append(self) }, as: UTF8.self)
  }

  /// The number of bytes of its text.
  static let textBytes = 32
}

extension OutputSpan<UInt8> {
  /// Appends the address's text.
  mutating func append(_ address: ContentAddress) {
    append(hexadecimal: address.high)
    append(hexadecimal: address.low)
  }
}
