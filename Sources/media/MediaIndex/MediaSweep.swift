import Catalog
import MediaFiles

/// Finds what a store knows of files that are gone.
struct MediaSweep {
  let storage: MediaStorage
  let listed: ListedObjects
  let addresses: MediaAddresses
  let store: any MediaStore
  let pace: MediaPace?

  /// The number of files that are checked between two reads of the store.
  private static let pageFiles = 512

  /// Calls the body with URLs of files below these folders that are there no more, some at a time.
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

  /// Calls the body with those among the next files that are gone; returns the last one of these files, nil at
  /// the end.
  private func forNextGone(
    after url: String, _ prefix: String, below folders: [[String]],
    _ body: ([String]) throws -> Void
  ) throws -> String? {
    let page = try store.media(after: url, limit: Self.pageFiles)
    let ours = page.prefix { $0.url.utf8.starts(with: prefix.utf8) }
    // That there is nothing is known of a file that posts name.
    let gone = ours.lazy.filter { !$0.truth.isUnavailable }.map(\.url).filter { url in
      guard let segments = addresses.segments(of: url),
        folders.contains(where: { folder in
          // By bytes: another spelling of the same letters is another name.
          segments.starts(with: folder) { $0.utf8.elementsEqual($1.utf8) }
        })
      else { return false }
      return isGone(segments)
    }
    if !gone.isEmpty { try body(Array(gone)) }
    return ours.count == Self.pageFiles ? ours.last?.url : nil
  }

  /// Whether nothing is served there. What cannot be looked at just now may still be there.
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
