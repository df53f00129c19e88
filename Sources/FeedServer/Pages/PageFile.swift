import Catalog
import Feed
import Synchronization
import System

/// Whole pages in a scratch file, ready to be sent: those for which `PageCache` has no room. The system
/// keeps the file in memory as far as it has any to spare; in this process's own all pages together take
/// some 6 MB at the most. A body goes from there to the client without being copied (`sendfile(2)`).
///
/// A page is kept when it was asked for a second time. Pages are only ever appended; a new file is begun
/// when this one is full, or has `maximumPages`, or the disk, on which the database is, too, would have
/// less room left than the file takes. Whether a page still is what the store would give is looked at
/// whenever it is found.
final class PageFile: Sendable {
  /// What the file has done so far and what it holds.
  struct Figures: Sendable, Hashable {
    var hits = 0
    var pages = 0
    /// The file's length.
    var bytes = 0
    /// How often it was begun anew.
    var renewals = 0
    /// How often it could not be written or read.
    var failures = 0
  }

  fileprivate struct Entry: Sendable {
    let place: Place
    /// How many bytes of it, the last ones, are the body.
    let bodyCount: Int
    /// As of when the page is known to be right.
    var version: StoreVersion
    /// How often it was found since it was kept, or not given because of that.
    var hits = 0
  }

  fileprivate struct State: Sendable {
    var file: ScratchFile?
    /// By the hash of the request's text, which is in the record, too.
    var entries: [Int: Entry] = [:]
    /// Where the next page goes.
    var end = 0
    /// Half the hashes of texts that were asked for once, each in the one place that it can have.
    var asked: [UInt32] = []
    /// It could not be written or read: it is done without from then on.
    var hasFailed = false
    var figures = Figures()
  }

  /// How many texts are remembered that were asked for once: 1 MB.
  private static let askedTexts = 1 << 18

  /// How many pages the file holds, however small they are: as many as fill a table of 2¹⁷ buckets of 40
  /// bytes.
  static let maximumPages = 98_304

  /// So often a page is found here before it moves to memory.
  static let hitsBeforeMemory = 64

  private let folder: String
  private let maximumBytes: Int
  private let maximumPages: Int
  private let freeBytes: @Sendable (ScratchFile) -> Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: where the file is; nothing is written before the first page.
  ///   - maximumBytes: how long the file gets; with 0 there is none.
  ///   - maximumPages: how many it holds.
  ///   - freeBytes: how much room the disk of the file has left.
  init(
    folder: String, maximumBytes: Int, maximumPages: Int = PageFile.maximumPages,
    freeBytes: @escaping @Sendable (ScratchFile) -> Int = { $0.freeBytes }
  ) {
    self.folder = folder
    self.freeBytes = freeBytes
    self.maximumBytes = min(maximumBytes, Place.maximumEnd)
    self.maximumPages = maximumPages
  }

  var figures: Figures { state.withLock { $0.figures } }

  /// Whether there is a page that answered such a request before.
  func contains(_ text: RequestText) -> Bool {
    state.withLock { $0.entries[text.hashValue] != nil }
  }

  /// The page that answered such a request before, if it is what the store would give now.
  ///
  /// One that has been found often is not given once: whoever makes it anew finds that the file contains
  /// it, and keeps it in memory.
  func find(_ text: RequestText, in store: any FeedStore) -> ReadyPage? {
    let hash = text.hashValue
    let found = state.withLock { state -> (ScratchFile, Entry)? in
      guard let file = state.file else { return nil }
      return state.entries[hash]?.find().map { (file, $0) }
    }
    guard let (file, entry) = found else { return nil }
    let place = entry.place.range
    let body = (place.upperBound - entry.bodyCount)..<place.upperBound
    let record: [UInt8]?
    do throws(SystemError) {
      record = try file.read([place.lowerBound..<body.lowerBound])
    } catch {
      record = nil
    }
    guard let record else {
      state.withLock { $0.fail() }
      return nil
    }
    let page = ReadyPage(
      record: record, body: .file(file.file, body), for: text, asOf: entry.version)
    guard let page else { return nil }
    let isCurrent = page.isCurrent(in: store)
    state.withLock { state in
      guard state.file === file, state.entries[hash]?.place == entry.place else { return }
      if isCurrent {
        state.entries[hash]?.version = page.version
        state.figures.hits += 1
      } else {
        state.entries[hash] = nil
        state.figures.pages -= 1
      }
    }
    return isCurrent ? page : nil
  }

  /// Whether a page should be kept that was made for such a request: if it was asked for before.
  func admits(_ text: RequestText) -> Bool {
    guard maximumBytes > 0 else { return false }
    let hash = text.hashValue
    return state.withLock { state in
      guard !state.hasFailed else { return false }
      if state.asked.isEmpty { state.asked = [UInt32](repeating: 0, count: Self.askedTexts) }
      let (mark, place) = (UInt32(truncatingIfNeeded: hash >> 32), hash & (Self.askedTexts - 1))
      // A page that is out of date soon is not written again and again.
      defer { state.asked[place] = state.asked[place] == mark ? 0 : mark }
      return state.asked[place] == mark
    }
  }

  /// Keeps the page for requests of this text. From one thread at a time, and not from event loops:
  /// writing to a file may take a while.
  func keep(_ page: ReadyPage, for text: RequestText) {
    let record = page.record(for: text)
    guard record.count <= min(maximumBytes, Place.maximumCount) else { return }
    do throws(SystemError) {
      guard let (file, start) = try reserve(record.count) else { return }
      try file.write(record, at: start)
      state.withLock { state in
        guard state.file === file else { return }
        let entry = Entry(
          place: Place(start: start, count: record.count),
          bodyCount: page.variant.whole.bodyLength, version: page.version)
        if state.entries.updateValue(entry, forKey: text.hashValue) == nil {
          state.figures.pages += 1
        }
      }
    } catch {
      state.withLock { $0.fail() }
    }
  }

  /// Room for so many bytes; nil where the file has failed or the disk is full.
  private func reserve(_ count: Int) throws(SystemError) -> (ScratchFile, start: Int)? {
    var (file, end, pages, hasFailed) = state.withLock {
      ($0.file, $0.end, $0.entries.count, $0.hasFailed)
    }
    guard !hasFailed else { return nil }
    if let full = file,
      pages >= maximumPages || end + count > min(maximumBytes, freeBytes(full))
    {
      state.withLock { $0.beginAnew() }
      (file, end) = (nil, 0)
    }
    let chosen = if let file { file } else { try ScratchFile(folder: folder) }
    guard end + count <= freeBytes(chosen) else { return nil }
    state.withLock { state in
      state.file = chosen
      state.end = end + count
      state.figures.bytes = state.end
    }
    return (chosen, end)
  }
}

extension PageFile.Entry {
  /// Counts, and now and then gives nothing.
  fileprivate mutating func find() -> Self? {
    hits = hits == PageFile.hitsBeforeMemory ? 0 : hits + 1
    return hits == 0 ? nil : self
  }
}

extension PageFile.State {
  /// Whoever reads the old file goes on with it.
  mutating func beginAnew() {
    if file != nil { figures.renewals += 1 }
    file = nil
    entries = [:]
    (end, figures.pages, figures.bytes) = (0, 0, 0)
  }

  /// Does without the file from now on: what a full or broken disk does to it, it would do again.
  mutating func fail() {
    beginAnew()
    hasFailed = true
    figures.failures += 1
  }
}
