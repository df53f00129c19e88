import Catalog
import Feed
import Prefetch
import System

/// Where pages get their items from: the item file, and the store for what is not there.
struct ItemSource: Sendable {
  let store: any FeedStore & PolicyStore
  let file: ItemFile
  /// Where what had to be read from the store is written to the file.
  let writers: WorkerPool
  let figures: ApplicationFigures

  /// The items of these posts, in their order, where all are in the file; with these URLs of their files.
  func encoded(_ posts: [Int64], links: MediaLinks) -> EncodedItems? {
    file.readAll(posts, expiring: links.expires)
  }

  /// Hands out the items of these posts, in their order, without those that are gone: at once where all
  /// are in the file, else when the store has read the others, on the thread on which it says so. Those
  /// have the hints that the policy gives them on the network. All have these URLs of their files.
  func items(
    _ posts: [Int64], hintsBy policy: Policy, on network: NetworkProfile, widthPixels: Int?,
    links: MediaLinks,
    completion: @escaping @Sendable (Result<EncodedItems, any Error>) -> Void
  ) {
    let found = file.read(posts, expiring: links.expires)
    guard !found.missing.isEmpty else { return completion(.success(found.items)) }
    let missing = found.missing.map { posts[$0] }
    // Asked for before reading: what changes meanwhile is not kept.
    let version = store.version
    let start = MonotonicClock.nanoseconds
    store.posts(missing) { read in
      figures.reads.recordNanoseconds(Int64(MonotonicClock.nanoseconds - start))
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

  /// Has the items written to the file, if that is not behind with its writing already.
  private func keep(
    _ items: EncodedItems, _ posts: [Int64], expiring expires: Int?, asOf version: StoreVersion
  ) {
    guard !file.isOff else { return }
    _ = writers.run { file.append(items, posts, expiring: expires, asOf: version) }
  }
}

extension EncodedItems {
  /// The items that were found, and those of `others` where there were none, in the order in which they
  /// were asked for; posts without either are left out.
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
