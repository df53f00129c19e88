import Catalog
import MediaIndex
import MediaProbe
import Synchronization
import System

/// Says which content a media file has just now.
///
/// Theory of operation. A file is the same content as before where it is the same file with the same size and
/// time of change, the one that nobody can set (`st_ctim`): of such a file the answer is in memory. Of another
/// one, the store may say what was read of it when it had that time of change; else it is read now, by one
/// thread alone. What is too large for that is not known before the index has it.
final class MediaVersions: Sendable {
  /// Which file it is, and as of when.
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

  /// What is known of so many files is some ten MB; then it is begun anew.
  private static let maximumFiles = 1 << 16
  /// So many requests wait for files to be read, each with its file open.
  private static let maximumWaiting = 64
  /// A second or two of reading.
  static let maximumReadBytes = 1 << 30

  private let store: any MediaStore
  private let known = Mutex<[Stamp: ContentAddress]>([:])
  private let readers = WorkerPool(threads: 1, limit: maximumWaiting)

  init(store: any MediaStore) { self.store = store }

  /// Says which content the file has that lies at this path; nil where nobody knows: at once where that is in
  /// memory, else on another thread.
  ///
  /// - Throws: `Problem` 503 where too many wait.
  func whenKnown(
    _ file: OpenFile, _ segments: [String],
    completion: @escaping @Sendable (Result<ContentAddress?, any Error>) -> Void
  ) throws {
    let stamp = Stamp(file)
    if let address = known.withLock({ $0[stamp] }) { return completion(.success(address)) }
    let isTaken = readers.run { [self] in
      completion(
        Result {
          // Whoever waited before may have asked for the same.
          if let address = known.withLock({ $0[stamp] }) { return address }
          guard let address = try find(file, segments) else { return nil }
          known.withLock { known in
            if known.count >= Self.maximumFiles { known = [:] }
            known[stamp] = address
          }
          return address
        })
    }
    guard isTaken else {
      throw Problem(.overloaded, .serviceUnavailable, "Too many files wait to be looked at.")
    }
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
    guard file.size <= Self.maximumReadBytes else { return nil }
    do throws(ProbeError) {
      return ContentAddress(sha256: try MediaProbe().digest(of: file))
    } catch {
      // It is being written, so that it has no content yet.
      if case .changed = error { return nil }
      throw error
    }
  }
}
