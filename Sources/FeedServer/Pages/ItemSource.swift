import Catalog
import Feed
import Prefetch
import System

/// Where pages get their encoded items from: the item file, and the store for what is not there.
struct ItemSource: Sendable {
  let store: any FeedStore & PolicyStore
  let file: ItemFile
  /// Where what had to be read from the store is written to the file.
  let writers: WorkerPool
  let figures: ApplicationFigures

  /// The items of these posts, in their order, without those that are gone.
  func items(_ posts: [Int64]) throws -> EncodedItems {
    let found = file.read(posts)
    guard found.ranges.contains(nil) else { return EncodedItems(found) }
    let missing = zip(posts, found.ranges).filter { $1 == nil }.map(\.0)
    // Asked for before reading: what changes meanwhile is not kept.
    let version = store.version
    let start = MonotonicClock.nanoseconds
    let read = try store.posts(missing)
    figures.reads.recordNanoseconds(Int64(MonotonicClock.nanoseconds - start))
    let fresh = EncodedItems(read)
    let numbers = read.posts.map(\.number)
    keep(fresh, numbers, asOf: version)
    guard missing.count < posts.count else { return fresh }
    return EncodedItems(found, of: posts, rest: fresh, of: numbers)
  }

  /// Has the items written to the file, if that is not behind with its writing already.
  private func keep(_ items: EncodedItems, _ posts: [Int64], asOf version: StoreVersion) {
    guard !file.isOff else { return }
    _ = writers.run { file.append(items, posts, asOf: version) }
  }
}
