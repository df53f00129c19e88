import Catalog
import Feed
import Synchronization
import System

/// Encoded items in a scratch file, which the system keeps in memory as far as it has any to spare; in
/// this process's own memory, eight bytes an item.
///
/// Theory of operation. Items are only ever appended; `places` says where the newest bytes of each post
/// lie, in pages of a table by the store's numbers, which are dense. Before anything is looked up, the
/// posts that changed in the store since the last time lose their places; what a reader brings is kept
/// only if its post has not changed since the reader looked. So what has a place is never behind the
/// store's version. Bytes without a place are lost; when they are most of the file, or it is full, a new
/// file is begun.
final class ItemFile: Sendable {
  /// The bytes of some items, one behind the other.
  struct Found: Sendable {
    let bytes: [UInt8]
    /// Where the bytes of each post lie that was asked for; nil where it is not in the file.
    let ranges: [Range<Int>?]
  }

  fileprivate struct State: Sendable {
    var file: ScratchFile?
    var places = PlaceTable()
    /// Where the next item goes.
    var end = 0
    /// How many of the bytes before `end` have a place.
    var usedBytes = 0
    /// Up to where changes of the store are taken in.
    var version = StoreVersion.start
    /// It could not be written or read: what was in it comes from the store from then on.
    var hasFailed = false
    var figures = Figures()
  }

  /// What the file has done so far and what it holds.
  struct Figures: Sendable, Hashable {
    var hits = 0
    var misses = 0
    var items = 0
    /// The file's length.
    var bytes = 0
    /// How often it was begun anew.
    var renewals = 0
    /// How often it could not be written or read.
    var failures = 0
  }

  private let store: any FeedStore
  private let folder: String
  private let maximumBytes: Int
  private let freeBytes: @Sendable (ScratchFile) -> Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: where the file is; nothing is written before the first item.
  ///   - maximumBytes: how long the file gets; with 0 there is none.
  ///   - freeBytes: how much room the disk of the file has left.
  init(
    store: any FeedStore, folder: String, maximumBytes: Int,
    freeBytes: @escaping @Sendable (ScratchFile) -> Int = { $0.freeBytes }
  ) {
    self.store = store
    self.freeBytes = freeBytes
    self.folder = folder
    self.maximumBytes = min(maximumBytes, Place.maximumEnd)
  }

  var isOff: Bool { maximumBytes == 0 }

  var figures: Figures { state.withLock { $0.figures } }

  /// Whether there is room for more without losing what is there.
  var hasRoom: Bool {
    leavesRoom(adding: 0)
      && state.withLock { $0.end < maximumBytes / 8 * 7 && !$0.hasFailed }
  }

  /// Whether the disk, on which the database is, too, then has as much room left as the file takes.
  private func leavesRoom(adding count: Int) -> Bool {
    let (file, end) = state.withLock { ($0.file, $0.end) }
    return file.map { end + count <= freeBytes($0) } ?? true
  }

  /// Those of the posts that are not in it and could be.
  func missing(_ posts: [Int64]) -> [Int64] {
    state.withLock { state in
      catchUp(&state)
      return posts.filter { PlaceTable.canHold($0) && state.places[$0] == nil }
    }
  }

  /// Reads what there is of these posts.
  func read(_ posts: [Int64]) -> Found {
    guard !isOff else { return Found(bytes: [], ranges: posts.map { _ in nil }) }
    let (file, places) = state.withLock { state in
      catchUp(&state)
      let places = posts.map { state.places[$0] }
      let found = places.count { $0 != nil }
      state.figures.hits += found
      state.figures.misses += posts.count - found
      return (state.file, places)
    }
    guard let file else { return Found(bytes: [], ranges: places.map { _ in nil }) }
    do throws(SystemError) {
      if let bytes = try file.read(Self.joined(places)) {
        return Found(bytes: bytes, ranges: Self.ranges(places))
      }
    } catch {}
    // What cannot be read is read from the store.
    state.withLock { $0.fail() }
    return Found(bytes: [], ranges: places.map { _ in nil })
  }

  /// Keeps items that were read from the store when it was at `version`, in this order: what is read
  /// together later should lie together.
  ///
  /// Writing to a file may take a while: not for event loops.
  func append(_ items: EncodedItems, _ posts: [Int64], asOf version: StoreVersion) {
    var records: [UInt8] = []
    records.reserveCapacity(items.bytes.count + 32 * posts.count)
    var counts: [Int] = []
    for index in items.items.indices {
      let start = records.count
      items.appendRecord(at: index, to: &records)
      if records.count - start > Place.maximumCount || !PlaceTable.canHold(posts[index]) {
        records.removeLast(records.count - start)
      }
      counts.append(records.count - start)
    }
    guard !records.isEmpty, records.count <= maximumBytes, leavesRoom(adding: records.count) else {
      return
    }
    do throws(SystemError) {
      guard let (file, start) = try reserve(records.count) else { return }
      try file.write(records, at: start)
      publish(zip(posts, counts), in: file, at: start, asOf: version)
    } catch {
      state.withLock { $0.fail() }
    }
  }

  /// Room for so many bytes; nil where the file has failed.
  private func reserve(_ count: Int) throws(SystemError) -> (ScratchFile, start: Int)? {
    let (reserved, hasFailed) = state.withLock { state -> ((ScratchFile, start: Int)?, Bool) in
      if state.end + count > maximumBytes || state.isMostlyUnused { state.beginAnew() }
      return (state.file.map { ($0, state.reserve(count)) }, state.hasFailed)
    }
    if hasFailed || reserved != nil { return reserved }
    let file = try ScratchFile(folder: folder)
    return state.withLock { state in
      // Another thread may have been faster.
      let file = state.file ?? file
      state.file = file
      return (file, state.reserve(count))
    }
  }

  /// Gives the items their places, those of them that have not changed since they were read.
  private func publish(
    _ items: some Sequence<(Int64, Int)>, in file: ScratchFile, at start: Int,
    asOf version: StoreVersion
  ) {
    state.withLock { state in
      guard state.file === file else { return }
      catchUp(&state)
      guard state.file === file, let changed = store.changedPosts(since: version) else { return }
      let stale = Set(changed)
      var position = start
      for (post, count) in items {
        if count > 0, !stale.contains(post) {
          state.add(post, Place(start: position, count: count))
        }
        position += count
      }
    }
  }

  /// Takes the places of what has changed.
  private func catchUp(_ state: inout State) {
    let now = store.version
    guard now > state.version else { return }
    if let changed = store.changedPosts(since: state.version) {
      for post in changed { state.remove(post) }
    } else if state.usedBytes > 0 {
      state.beginAnew()
    }
    state.version = now
  }

  /// The pieces of the file to read: what lies together is read together.
  private static func joined(_ places: [Place?]) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    for case let place? in places {
      if let last = pieces.last, last.upperBound == place.start {
        pieces[pieces.count - 1] = last.lowerBound..<(place.start + place.count)
      } else {
        pieces.append(place.start..<(place.start + place.count))
      }
    }
    return pieces
  }

  private static func ranges(_ places: [Place?]) -> [Range<Int>?] {
    var end = 0
    return places.map { place in
      guard let place else { return nil }
      defer { end += place.count }
      return end..<(end + place.count)
    }
  }
}

extension ItemFile.State {
  /// Below this a file is not begun anew for what it has lost.
  private static let keptBytes = 16 << 20

  /// Whether most of the file is bytes that nobody will read again.
  var isMostlyUnused: Bool { end > Self.keptBytes && usedBytes < end / 2 }

  mutating func reserve(_ count: Int) -> Int {
    defer { end += count }
    figures.bytes = end + count
    return end
  }

  mutating func add(_ post: Int64, _ place: Place) {
    remove(post)
    places[post] = place
    usedBytes += place.count
    figures.items += 1
  }

  mutating func remove(_ post: Int64) {
    guard let place = places[post] else { return }
    places[post] = nil
    usedBytes -= place.count
    figures.items -= 1
  }

  /// Whoever reads the old file goes on with it.
  mutating func beginAnew() {
    if file != nil { figures.renewals += 1 }
    file = nil
    places = PlaceTable()
    (end, usedBytes, figures.items, figures.bytes) = (0, 0, 0, 0)
  }

  /// Does without the file from now on: what a full or broken disk does to it, it would do again.
  mutating func fail() {
    beginAnew()
    hasFailed = true
    figures.failures += 1
  }
}
