import Feed
import Prefetch
import Reports
import Synchronization

/// How many bytes of each file came, and how many of them somebody looked at. Bounded: of very many files
/// those that were met first are summed up.
package struct WasteLedger {
  private struct Entry {
    var fetchedBytes = 0
    var usedBytes = 0
    /// Another variant of the medium was looked at instead.
    var isReplaced = false
    /// The last transfer of it was stopped.
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
  /// The files by when they were met.
  private var order: [String] = []
  private var closed = Tally<ByteFate>()

  private static let entryLimit = 4_096

  package init() {}

  /// All bytes that came and were of no use, as of now.
  var wastedBytes: Int { fates.total - fates[.seen] }

  /// What became of all bytes, as of now.
  package var fates: Tally<ByteFate> {
    var fates = closed
    for entry in entries.values { fates.add(entry.fates) }
    return fates
  }

  /// Bytes of a file came.
  package mutating func fetched(_ bytes: Int, of key: String) {
    meet(key)
    entries[key]?.fetchedBytes += bytes
    entries[key]?.isCancelled = false
  }

  /// A transfer of a file was stopped.
  mutating func cancelled(_ key: String) { entries[key]?.isCancelled = true }

  /// Somebody looked at the item for so long.
  ///
  /// - Parameters:
  ///   - chosen: the file by which its first medium was shown; nil where that is not known.
  ///   - wasReady: what showed it was there, though it may be told only later that it came.
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
  /// How many bytes of it were of use to somebody who looked at it for so long: of a picture all, of a clip as
  /// many as its curve says, or where that is unknown its share of the time.
  fileprivate func bytesPlayed(milliseconds: Int) -> Int {
    guard kind.plays else { return .max }
    if let duration = durationMilliseconds, duration <= milliseconds { return .max }
    return bytes(throughMilliseconds: max(milliseconds, 0)) ?? .max
  }
}

/// Counts what crosses the network for media, as the store says it: at once, so that whoever has read bytes finds
/// them counted.
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

/// What a viewing came to: the statistics line of a measuring stand.
public struct ViewingFigures: Hashable, Sendable {
  /// Items that the person looked at.
  public var items = 0
  /// Of these, pictures that were not whole when they became active.
  public var imageLoaders = 0
  /// Of these, clips short of what starts them.
  public var videoLoaders = 0
  /// How long the person looked at loaders, together.
  public var waitMilliseconds = 0
  /// Bytes of media and of pages.
  public var bytes = 0
  /// Of those of media, bytes of items that were not looked at, and of clips beyond what was watched.
  public var wastedBytes = 0
  /// Requests for media and for pages.
  public var requests = 0
  /// Of these, for pages.
  public var pageRequests = 0

  /// No viewing.
  public init() {}

  /// Loaders per thousand items that were looked at.
  public var loadersPerThousand: Double {
    items == 0 ? 0 : Double(imageLoaders + videoLoaders) * 1_000 / Double(items)
  }
}
