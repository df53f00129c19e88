import Feed
import Prefetch
import Reports
import Synchronization

/// Counts the bytes of each file that arrived, and how many of them the person saw. Bounded: beyond
/// `entryLimit` files, the earliest half is added up.
package struct WasteLedger {
  private struct Entry {
    var fetchedBytes = 0
    var usedBytes = 0
    /// Whether another variant of the media was seen instead.
    var isReplaced = false
    /// Whether the last transfer of it was cancelled.
    var isCancelled = false
    var wastedBytes: Int { max(0, fetchedBytes - usedBytes) }

    var fates: Tally<ByteFate> {
      var fates = Tally<ByteFate>()
      fates[.seen] = min(fetchedBytes, usedBytes)
      let fate: ByteFate =
        usedBytes > 0
        ? .left : isReplaced ? .otherVariant : isCancelled ? .cancelled : .neverReached
      fates[fate] = wastedBytes
      return fates
    }
  }

  private var entries: [String: Entry] = [:]
  /// The keys of the files, in the order in which they were first met.
  private var order: [String] = []
  private var closed = Tally<ByteFate>()

  private static let entryLimit = 4_096

  package init() {}

  /// The number of bytes that arrived and were of no use so far.
  var wastedBytes: Int { fates.total - fates[.seen] }

  /// The fates of all bytes so far.
  package var fates: Tally<ByteFate> {
    var fates = closed
    for entry in entries.values { fates.add(entry.fates) }
    return fates
  }

  /// Adds bytes of a file that arrived.
  package mutating func fetched(_ bytes: Int, of key: String) {
    meet(key)
    entries[key]?.fetchedBytes += bytes
    entries[key]?.isCancelled = false
  }

  /// Notes that a transfer of a file was cancelled.
  mutating func cancelled(_ key: String) { entries[key]?.isCancelled = true }

  /// Notes that the person looked at the item for this long.
  ///
  /// - Parameters:
  ///   - chosen: the key of the file that showed its first media; nil if that is not known.
  ///   - wasReady: whether the bytes that show it were there. The ledger may be told of their arrival only
  ///     later.
  package mutating func watched(
    _ item: PrefetchItem, chosen: String?, milliseconds: Int, wasReady: Bool
  ) {
    for (place, media) in item.media.enumerated() {
      for file in media.files {
        if wasReady, place == 0, file.key == chosen { meet(file.key) }
        guard var entry = entries[file.key] else { continue }
        if place == 0, let chosen, chosen != file.key {
          entry.isReplaced = true
        } else {
          entry.usedBytes = max(
            entry.usedBytes, file.load.bytesPlayed(milliseconds: milliseconds))
        }
        entries[file.key] = entry
      }
    }
  }

  private mutating func meet(_ key: String) {
    guard entries[key] == nil else { return }
    entries[key] = Entry()
    order.append(key)
    guard order.count > Self.entryLimit else { return }
    for old in order.prefix(Self.entryLimit / 2) {
      if let entry = entries.removeValue(forKey: old) { closed.add(entry.fates) }
    }
    order.removeFirst(Self.entryLimit / 2)
  }
}

extension MediaLoad {
  /// The number of bytes that were of use in a look of this duration: all of a picture; of a clip the number
  /// that its curve states, or without a curve its share of the time.
  fileprivate func bytesPlayed(milliseconds: Int) -> Int {
    guard kind.plays else { return .max }
    if let duration = durationMilliseconds, duration <= milliseconds { return .max }
    return bytes(throughMilliseconds: max(milliseconds, 0)) ?? .max
  }
}

/// Counts the store's network traffic for media. The store calls it synchronously, so that bytes are counted
/// before a reader has them.
final class MediaTraffic: Sendable {
  private let counts = Mutex((requests: 0, bytes: 0))

  var requests: Int { counts.withLock { $0.requests } }
  var bytes: Int { counts.withLock { $0.bytes } }

  func count(_ event: RangeStoreEvent) {
    counts.withLock { counts in
      switch event {
      case .asked: counts.requests += 1
      case .arrived(_, let range, _): counts.bytes += range.count
      case .answered, .ended: break
      }
    }
  }
}

/// The figures of a viewing, as in the statistics line of a test bench.
public struct ViewingFigures: Hashable, Sendable {
  /// The number of items that the person looked at.
  public var items = 0
  /// The number of these that were pictures and incomplete when they became active.
  public var imageLoaders = 0
  /// The number of these that were clips and lacked bytes that start them.
  public var videoLoaders = 0
  /// The total time for which the person looked at loaders.
  public var waitMilliseconds = 0
  /// The number of bytes of media and of pages.
  public var bytes = 0
  /// The number of bytes of media that belong to items not looked at, or to clips beyond the watched part.
  public var wastedBytes = 0
  /// The number of requests for media and for pages.
  public var requests = 0
  /// The number of these that were for pages.
  public var pageRequests = 0

  /// Creates the figures of an empty viewing.
  public init() {}

  /// The number of loaders per thousand items looked at.
  public var loadersPerThousand: Double {
    items == 0 ? 0 : Double(imageLoaders + videoLoaders) * 1_000 / Double(items)
  }
}
