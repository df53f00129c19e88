import Catalog
import Feed
import MediaFiles
import MediaProbe
import System

/// Probes a file before it gets its name in a media root, and stores the facts after that, so that the facts
/// about an uploaded file are known when the response is sent.
package struct MediaArrival: Sendable {
  let storage: MediaStorage
  let store: any MediaStore
  let probe: MediaProbe
  private let addresses = MediaAddresses.served

  /// Creates an arrival for files of this storage, whose facts are in this store.
  package init(_ storage: MediaStorage, store: any MediaStore, probe: MediaProbe) {
    self.storage = storage
    self.store = store
    self.probe = probe
  }

  /// Returns the SHA-256 of an open file.
  ///
  /// - Throws: as `MediaProbe.digest(of:)` does.
  package func digest(of file: OpenFile) throws(ProbeError) -> [UInt8] {
    try probe.digest(of: file)
  }

  /// Returns the facts about an open file with this content.
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

  /// Returns the ids of the first items that name the file with these path segments.
  ///
  /// - Throws: what the store throws.
  package func items(naming segments: [String], limit: Int) throws -> [String] {
    try store.posts(naming: addresses.urls(of: segments), limit: limit)
  }

  /// Stores that the file with these path segments is gone, if there were facts about it. When the call
  /// returns, new pages reflect it.
  ///
  /// - Throws: what the store throws.
  package func lose(_ segments: [String]) throws {
    let urls = addresses.urls(of: segments)
    let known = zip(urls, try store.media(at: urls)).filter { $0.1 != nil }
    if !known.isEmpty {
      try store.keep(known.map { KnownMedia(url: $0.0, truth: .unavailable) })
    }
  }

  /// Stores the facts about the file that now has these path segments and this status, at each URL by which a
  /// post may name it; or removes them if `truth` is nil. When the call returns, new pages reflect it.
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
