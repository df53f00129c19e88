import Catalog
import MediaFiles

/// Finds stored facts about files that are gone.
struct MediaSweep {
  let storage: MediaStorage
  let listed: ListedObjects
  let addresses: MediaAddresses
  let store: any MediaStore
  let pace: MediaPace?

  /// The number of files checked between two reads of the store.
  private static let pageFiles = 512

  /// Calls the body with URLs of missing files below these folders, some at a time.
  func forEachGone(below targets: [MediaTarget], _ body: ([String]) throws -> Void) throws {
    let folders = targets.compactMap { target -> [String]? in
      if case .folder(let segments) = target { segments } else { nil }
    }
    guard !folders.isEmpty else { return }
    for prefix in addresses.prefixes {
      var last: String? = prefix
      while let start = last, pace?.isStopped != true {
        func next() throws -> String? {
          try forNextGone(after: start, prefix, below: folders, body)
        }
        last = try pace.map { try $0.work(next) } ?? next()
      }
    }
  }

  /// Calls the body with the missing ones among the next files; returns the URL of the last
  /// file, or nil at the end.
  private func forNextGone(
    after url: String, _ prefix: String, below folders: [[String]],
    _ body: ([String]) throws -> Void
  ) throws -> String? {
    let page = try store.media(after: url, limit: Self.pageFiles)
    let ours = page.prefix { $0.url.utf8.starts(with: prefix.utf8) }
    // An unavailable fact is about a file that posts name, and stays.
    let gone = ours.lazy.filter { !$0.truth.isUnavailable }.map(\.url).filter { url in
      guard let segments = addresses.segments(of: url),
        folders.contains(where: { folder in
          // Compare bytes: Unicode-equivalent names are different names.
          segments.starts(with: folder) { $0.utf8.elementsEqual($1.utf8) }
        })
      else { return false }
      return isGone(segments)
    }
    if !gone.isEmpty { try body(Array(gone)) }
    return ours.count == Self.pageFiles ? ours.last?.url : nil
  }

  /// Whether no file is served there. A file that cannot be inspected at the moment may still exist.
  private func isGone(_ segments: [String]) -> Bool {
    if storage.bucket != nil, case .found = listed.entry(segments) { return false }
    do throws(MediaError) {
      _ = try storage.status(of: segments)
      return false
    } catch {
      if case .notFound = error { return true }
      return false
    }
  }
}
