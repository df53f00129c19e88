import Catalog
import Feed
import MediaFiles
import MediaProbe
import System

/// Finds out what a file is before it gets its name in a media root, and stores that when it has it: what is known of
/// a file that comes over HTTP is known with the answer.
package struct MediaArrival: Sendable {
  let storage: MediaStorage
  let store: any MediaStore
  let probe: MediaProbe
  private let addresses = MediaAddresses.served

  /// For files that lie there, whose facts this store has.
  package init(_ storage: MediaStorage, store: any MediaStore, probe: MediaProbe) {
    self.storage = storage
    self.store = store
    self.probe = probe
  }

  /// The SHA-256 of all of an open file.
  ///
  /// - Throws: as `MediaProbe.digest(of:)` does.
  package func digest(of file: OpenFile) throws(ProbeError) -> [UInt8] {
    try probe.digest(of: file)
  }

  /// What is known of a content, and of an open file that has it.
  ///
  /// - Throws: `ProbeError`, and what the store throws.
  package func report(of file: OpenFile, sha256: [UInt8]) throws -> ProbeReport {
    if let truth = try store.truth(ofContent: sha256), !probe.knowsBetter(than: truth) {
      var notes: [ProbeNote] = []
      if truth.start?.isStartable == false { notes.append(.tablesBehind) }
      if truth.isEncrypted { notes.append(.encrypted) }
      return ProbeReport(truth: truth, notes: notes)
    }
    let report = try probe.probe(file, sha256: sha256)
    if let problem = report.truth.problem {
      throw ProbeError.unbelievable(program: "lookahead", "\(problem.field) \(problem.words)")
    }
    return report
  }

  /// Ids of items that name the file with these path segments, the first ones.
  ///
  /// - Throws: what the store throws.
  package func items(naming segments: [String], limit: Int) throws -> [String] {
    try store.posts(naming: addresses.urls(of: segments), limit: limit)
  }

  /// Stores that there is no file any more at these path segments, where something was known of one. When it returns,
  /// the next page says so.
  ///
  /// - Throws: what the store throws.
  package func lose(_ segments: [String]) throws {
    let urls = addresses.urls(of: segments)
    let known = zip(urls, try store.media(at: urls)).filter { $0.1 != nil }
    if !known.isEmpty {
      try store.keep(known.map { KnownMedia(url: $0.0, truth: .unavailable) })
    }
  }

  /// Stores what is known of the file that has these path segments now, and of which this is said, at each URL by which a
  /// post may name it; or that nothing is. When it returns, the next page says so.
  ///
  /// - Throws: what the store throws, `MediaError`, `ProbeError.cancelled`.
  package func keep(
    _ truth: MediaTruth?, of segments: [String], _ status: MediaStatus
  ) throws {
    let urls = addresses.urls(of: segments)
    guard let truth else {
      let known = zip(urls, try store.media(at: urls)).filter { $0.1 != nil }.map(\.0)
      return known.isEmpty ? () : try store.forget(known)
    }
    let path = segments.joined(separator: "/")
    let found = try RenditionShelf(storage: storage, probe: probe, maker: nil, isDry: true)
      .renditions(of: truth, at: segments, path)
    try store.keep(
      addresses.media(
        at: urls, truth.alone, found, Int64(status.changed.nanosecondsSince1970)))
  }
}
