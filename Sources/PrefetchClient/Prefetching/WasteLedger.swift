import Feed
import Prefetch

/// How many bytes of each file came, and how many of them somebody looked at. Bounded: of very many files
/// those that were met first are summed up.
struct WasteLedger {
  private struct Entry {
    var fetchedBytes = 0
    var usedBytes = 0
    var wastedBytes: Int { max(0, fetchedBytes - usedBytes) }
  }

  private var entries: [String: Entry] = [:]
  /// The files by when they were met.
  private var order: [String] = []
  private var closedBytes = 0

  private static let entryLimit = 4_096

  /// All bytes that came and were of no use, as of now.
  var wastedBytes: Int { entries.values.reduce(closedBytes) { $0 + $1.wastedBytes } }

  /// Bytes of a file came.
  mutating func fetched(_ bytes: Int, of key: String) {
    meet(key)
    entries[key]?.fetchedBytes += bytes
  }

  /// Somebody looked at the item for so long.
  mutating func watched(_ item: PrefetchItem, milliseconds: Int) {
    for media in item.media {
      for file in media.files {
        guard var entry = entries[file.key] else { continue }
        entry.usedBytes = max(
          entry.usedBytes, file.load.bytesPlayed(milliseconds: milliseconds))
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
      closedBytes += entries.removeValue(forKey: old)?.wastedBytes ?? 0
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
