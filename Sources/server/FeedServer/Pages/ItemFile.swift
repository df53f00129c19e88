import Catalog
import Feed
import Prefetch
import Synchronization
import System
import class CoreMetrics.Timer

/// Encoded items in a scratch file, which the system caches in spare memory; takes eight bytes an item of
/// this process's own memory.
///
/// Theory of operation. Items are only ever appended; `places` has the position of the newest bytes of each
/// post, in pages of a table by the store's numbers, which are dense. Before each look-up, the posts that
/// changed in the store since the last one lose their places; the items that a reader brings are kept only if
/// their posts have not changed since it read them. So no place is behind the store's version. Bytes without
/// a place are lost. The file is restarted when most of its bytes are lost, when it is full, and when media
/// URLs are wanted with another expiry than those that it holds, since every item contains them.
final class ItemFile: Sendable {
  /// The items that the file has of some posts.
  struct Found: Sendable {
    /// The items in the file, in the order of the request.
    let items: EncodedItems
    /// The indexes of the other posts in the request.
    let missing: [Int]

    fileprivate static func nothing(of posts: [Int64]) -> Found {
      Found(items: EncodedItems(), missing: Array(posts.indices))
    }
  }

  fileprivate struct State: Sendable {
    var file: ScratchFile?
    var places = PlaceTable()
    /// The position at which the next item is written.
    var end = 0
    /// The number of bytes before `end` that have a place.
    var usedBytes = 0
    /// The version of the store up to which changes are applied.
    var version = StoreVersion.start
    /// The expiry of the URLs in the file, in seconds since 1970; `nil` if they do not expire.
    var expires: Int?
    /// Whether it could not be written or read: all items come from the store from then on.
    var hasFailed = false
    var figures = Figures()
  }

  /// The activity and size of the file.
  struct Figures: Sendable, Hashable {
    var hits = 0
    var misses = 0
    var items = 0
    /// The file's length.
    var bytes = 0
    /// The number of times that the file was restarted.
    var renewals = 0
    /// The number of times that it could not be written or read.
    var failures = 0
  }

  private let store: any FeedStore
  private let folder: String
  private let maximumBytes: Int
  private let freeBytes: @Sendable (ScratchFile) -> Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: where the file is; nothing is written before the first item.
  ///   - maximumBytes: the maximum size of the file; 0 disables it.
  ///   - freeBytes: the free bytes on the disk of the file.
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

  /// Whether the disk, which also has the database, would still have as many bytes free as the file takes.
  private func leavesRoom(adding count: Int) -> Bool {
    let (file, end) = state.withLock { ($0.file, $0.end) }
    return file.map { end + count <= freeBytes($0) } ?? true
  }

  /// The posts that the file could hold, but does not have with URLs of this expiry.
  func missing(_ posts: [Int64], expiring expires: Int? = nil) -> [Int64] {
    state.withLock { state in
      state.begin(expiring: expires)
      catchUp(&state)
      return posts.filter { PlaceTable.canHold($0) && state.places[$0] == nil }
    }
  }

  /// Reads these posts with URLs of this expiry, if all are in the file; else `nil`, without counting hits or
  /// misses.
  func readAll(_ posts: [Int64], expiring expires: Int? = nil) -> EncodedItems? {
    let found = read(posts, expiring: expires, areAllNeeded: true)
    return found.missing.isEmpty ? found.items : nil
  }

  /// Reads those of these posts that are in the file, with URLs of this expiry.
  ///
  /// - Parameter areAllNeeded: reads and counts nothing unless all are in the file.
  func read(_ posts: [Int64], expiring expires: Int? = nil, areAllNeeded: Bool = false) -> Found {
    guard !isOff else { return .nothing(of: posts) }
    let (file, pieces, missing) = state.withLock { state in
      state.begin(expiring: expires)
      catchUp(&state)
      let (pieces, missing) = state.pieces(of: posts)
      if areAllNeeded, !missing.isEmpty { return (nil as ScratchFile?, pieces, missing) }
      state.figures.hits += posts.count - missing.count
      state.figures.misses += missing.count
      return (state.file, pieces, missing)
    }
    guard let file, !pieces.isEmpty else { return .nothing(of: posts) }
    do throws(SystemError) {
      if let bytes = try file.read(pieces) {
        return Found(
          items: EncodedItems(bytes: bytes, count: posts.count - missing.count), missing: missing)
      }
    } catch {}
    // The store has what the file cannot read.
    state.withLock { $0.fail() }
    return .nothing(of: posts)
  }

  /// Appends items that were read from the store at `version`, in this order: items that are read together
  /// should be near each other. Drops them if the file now holds URLs of another expiry.
  ///
  /// Writing to a file may take a while: not for event loops.
  func append(
    _ items: EncodedItems, _ posts: [Int64], expiring expires: Int? = nil,
    asOf version: StoreVersion
  ) {
    // An item without a place is not written: no reader would find its bytes.
    let records = zip(posts, items.records).filter { post, record in
      PlaceTable.canHold(post) && record.count <= Place.maximumCount
    }
    let count = records.reduce(0) { $0 + $1.1.count }
    guard !records.isEmpty, count <= maximumBytes, leavesRoom(adding: count) else { return }
    do throws(SystemError) {
      guard let (file, start) = try reserve(count) else { return }
      let isAll = count == items.bytes.count
      try file.write(isAll ? items.bytes : records.flatMap { items.bytes[$1] }, at: start)
      publish(records.map { ($0, $1.count) }, in: file, at: start, expires, asOf: version)
    } catch {
      state.withLock { $0.fail() }
    }
  }

  /// Reserves room for `count` bytes; nil if the file has failed.
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

  /// Gives places to the items that have not changed since they were read.
  private func publish(
    _ items: [(post: Int64, count: Int)], in file: ScratchFile, at start: Int, _ expires: Int?,
    asOf version: StoreVersion
  ) {
    state.withLock { state in
      guard state.file === file, state.expires == expires else { return }
      catchUp(&state)
      guard state.file === file, let changed = store.changedPosts(since: version) else { return }
      let stale = Set(changed)
      var position = start
      for (post, count) in items {
        if !stale.contains(post) { state.add(post, Place(start: position, count: count)) }
        position += count
      }
    }
  }

  /// Removes the places of changed posts.
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
}

extension ItemFile.State {
  /// The ranges of the file with the posts' items, in order, with adjacent items in one range; and the
  /// indexes of the posts without a place.
  func pieces(of posts: [Int64]) -> (pieces: [Range<Int>], missing: [Int]) {
    var pieces: [Range<Int>] = []
    var missing: [Int] = []
    var piece = 0..<0
    for (index, post) in posts.enumerated() {
      guard let place = places[post] else {
        missing.append(index)
        continue
      }
      if piece.upperBound == place.start {
        piece = piece.lowerBound..<place.range.upperBound
      } else {
        if !piece.isEmpty { pieces.append(piece) }
        piece = place.range
      }
    }
    if !piece.isEmpty { pieces.append(piece) }
    return (pieces, missing)
  }

  /// The size below which a file is not restarted for its lost bytes.
  private static let keptBytes = 16 << 20

  /// Whether most of the file is bytes that will never be read again.
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
    assert(place.range.upperBound <= end && usedBytes <= end, "an item lies beyond the file's end")
  }

  mutating func remove(_ post: Int64) {
    guard let place = places[post] else { return }
    places[post] = nil
    usedBytes -= place.count
    figures.items -= 1
    assert(usedBytes >= 0 && figures.items >= 0, "more items left than were there")
  }

  /// Restarts the file unless it holds URLs of this expiry.
  mutating func begin(expiring expires: Int?) {
    guard expires != self.expires else { return }
    self.expires = expires
    if end > 0 { beginAnew() }
  }

  /// Starts a new file. Readers of the old file continue with it.
  mutating func beginAnew() {
    if file != nil { figures.renewals += 1 }
    file = nil
    places = PlaceTable()
    (end, usedBytes, figures.items, figures.bytes) = (0, 0, 0, 0)
  }

  /// Stops using the file: a full or broken disk would fail again.
  mutating func fail() {
    beginAnew()
    hasFailed = true
    figures.failures += 1
  }
}

// MARK: Places

/// The position of an item in the file, in one number.
struct Place: Hashable, Sendable {
  private let packed: UInt64

  /// The maximum size of an item in the file.
  static let maximumCount = (1 << 24) - 1
  /// The maximum size of a file.
  static let maximumEnd = 1 << 40

  var start: Int { Int(packed >> 24) }
  var count: Int { Int(packed & UInt64(Self.maximumCount)) }
  var range: Range<Int> { start..<start + count }

  /// Creates a place with a `start` below `maximumEnd` and a `count` from 1 to `maximumCount`.
  init(start: Int, count: Int) {
    packed = UInt64(start) << 24 | UInt64(count)
  }

  /// `nil` for 0, which no place has.
  fileprivate init?(packed: UInt64) {
    guard packed != 0 else { return nil }
    self.packed = packed
  }

  fileprivate static func packed(_ place: Place?) -> UInt64 { place?.packed ?? 0 }
}

/// The places of posts, by the store's numbers, which are dense: in pages of 1024.
struct PlaceTable: Sendable {
  private static let pageBits: Int64 = 10
  private static let maximumNumber: Int64 = 1 << 30

  /// Whether a post with this number can have a place: the table is as long as the highest number.
  static func canHold(_ post: Int64) -> Bool { (0...maximumNumber).contains(post) }

  /// The pages; a page without places is empty.
  private var pages: [[UInt64]] = []

  subscript(post: Int64) -> Place? {
    get {
      let number = post >> Self.pageBits
      guard number >= 0, number < pages.count else { return nil }
      let page = pages[Int(number)]
      return page.isEmpty ? nil : Place(packed: page[Self.index(of: post)])
    }
    set {
      guard Self.canHold(post) else { return }
      let number = Int(post >> Self.pageBits)
      if number >= pages.count || pages[number].isEmpty {
        guard newValue != nil else { return }
        while pages.count <= number { pages.append([]) }
        pages[number] = [UInt64](repeating: 0, count: 1 << Self.pageBits)
      }
      pages[number][Self.index(of: post)] = Place.packed(newValue)
    }
  }

  private static func index(of post: Int64) -> Int { Int(post & (1 << pageBits - 1)) }
}

// MARK: The source of items

/// The source of items for pages: the item file, and the store for the rest.
struct ItemSource: Sendable {
  let store: any FeedStore & PolicyStore
  let file: ItemFile
  /// The threads that write items from the store to the file.
  let writers: WorkerPool
  /// The times in which the store reads the posts of a page.
  private let reads: Timer

  init(
    store: any FeedStore & PolicyStore, file: ItemFile, writers: WorkerPool,
    figures: ApplicationFigures
  ) {
    self.store = store
    self.file = file
    self.writers = writers
    reads = figures.reads
  }

  /// The items of these posts, in their order, with these URLs of their files; `nil` unless all are in the
  /// file.
  func encoded(_ posts: [Int64], links: MediaLinks) -> EncodedItems? {
    file.readAll(posts, expiring: links.expires)
  }

  /// Passes the items of these posts, in their order, without deleted ones: at once if all are in the file,
  /// else when the store has read the others, on its thread. Those have the hints that the policy gives them
  /// on the network. All have these URLs of their files.
  func items(
    _ posts: [Int64], hintsBy policy: Policy, on network: NetworkProfile, widthPixels: Int?,
    links: MediaLinks,
    completion: @escaping @Sendable (Result<EncodedItems, any Error>) -> Void
  ) {
    let found = file.read(posts, expiring: links.expires)
    guard !found.missing.isEmpty else { return completion(.success(found.items)) }
    let missing = found.missing.map { posts[$0] }
    // Read before the posts: what changes meanwhile is not kept.
    let version = store.version
    let start = MonotonicClock.nanoseconds
    store.posts(missing) { read in
      reads.recordNanoseconds(Int64(MonotonicClock.nanoseconds - start))
      completion(
        read.map { read in
          let fresh = EncodedItems(
            read, hintsBy: policy, on: network, widthPixels: widthPixels, links: links)
          let numbers = read.posts.map(\.number)
          keep(fresh, numbers, expiring: links.expires, asOf: version)
          guard found.items.count > 0 else { return fresh }
          return EncodedItems(found, of: posts, and: fresh, of: numbers)
        })
    }
  }

  /// Writes the items to the file, unless the queue of writes is full.
  private func keep(
    _ items: EncodedItems, _ posts: [Int64], expiring expires: Int?, asOf version: StoreVersion
  ) {
    guard !file.isOff else { return }
    _ = writers.run { file.append(items, posts, expiring: expires, asOf: version) }
  }
}

extension EncodedItems {
  /// Merges the found items and those of `others`, in the order of `posts`; leaves out posts that are in
  /// neither.
  init(
    _ found: ItemFile.Found, of posts: [Int64], and fresh: EncodedItems, of others: [Int64]
  ) {
    self.init()
    var missing = found.missing[...]
    var old = found.items.records[...]
    var new = Array(zip(others, fresh.records))[...]
    for (index, post) in posts.enumerated() {
      if missing.first != index {
        append(old.removeFirst(), of: found.items)
        continue
      }
      missing.removeFirst()
      if let (number, record) = new.first, number == post {
        append(record, of: fresh)
        new.removeFirst()
      }
    }
  }
}
