import Catalog
import Feed
import Reports

/// The facts about an item's files with which reports are compared.
struct SeenFacts {
  /// A file whose start has been analyzed.
  private struct File {
    let version: MediaVersion
    /// The bytes that the file needs to start.
    let startBytes: Int
  }

  /// The kind and duration of what plays; `nil` if nothing does, or the duration is unknown.
  private let clip: (kind: MediaKind, durationMilliseconds: Int)?
  private let url: String
  /// The first file and its variants; `nil` for those of which too little is known.
  private let files: [File?]

  /// The maximum length of URLs and versions in the ledger: databases index no longer ones.
  private static let keyBytes = 1_000

  /// `nil` for an item without files.
  init?(_ item: StoredItem) {
    guard let media = item.post.media.first else { return nil }
    url = media.url
    let truth = item.truths.first ?? nil
    let known = truth.flatMap { $0.isUnavailable ? nil : $0 }
    let load = known.map { MediaLoad($0) } ?? MediaLoad(media)
    let duration = load.durationMilliseconds ?? media.durationMilliseconds ?? 0
    clip = load.kind.plays && duration > 0 ? (load.kind, duration) : nil
    files =
      known.map { [Self.file($0)] + $0.variants.map { Self.file($0.truth) } } ?? []
  }

  private static func file(_ truth: MediaTruth) -> File? {
    guard let version = truth.version, version.text.utf8.count <= keyBytes else { return nil }
    let kind = MediaLoad(truth).kind
    guard kind.plays else { return File(version: version, startBytes: truth.bytes) }
    return truth.start.map { start in
      File(
        version: version,
        startBytes: start.isStartable
          ? start.headBytes : start.neededRanges.reduce(0) { $0 + $1.count })
    }
  }

  /// The view of a clip; `nil` if the user could not see any of it.
  func view(_ seen: SeenItem) -> WatchedView? {
    guard let clip, seen.readyMilliseconds != nil || seen.watchedMilliseconds > 0 else {
      return nil
    }
    return WatchedView(
      item: seen.id, kind: clip.kind, durationMilliseconds: clip.durationMilliseconds,
      watchedMilliseconds: seen.watchedMilliseconds,
      hasLeftWaiting: seen.hasLeftWaiting || seen.readyMilliseconds == nil)
  }

  /// The promise that the view tested, and whether it was kept; `nil` if it tested none. A view tests the
  /// promise if the client's page had the version that is known now, the bytes that start the file were
  /// loaded, and the client reports first frames.
  ///
  /// - Parameter decoderMilliseconds: the time within which the first frame must come.
  func promise(
    _ seen: SeenItem, on network: String, tellsFrames: Bool, decoderMilliseconds: Int
  ) -> (key: PromiseKey, isKept: Bool)? {
    let place = seen.variant.map { $0 + 1 } ?? 0
    guard files.indices.contains(place), let file = files[place], url.utf8.count <= Self.keyBytes,
      seen.version.map(file.version.mark.isSame) ?? true,
      seen.neededBytes >= file.startBytes, let ready = seen.readyMilliseconds
    else { return nil }
    let isKept: Bool
    if let frame = seen.frameMilliseconds {
      isKept = frame - ready <= decoderMilliseconds
    } else {
      // A user who left at once could not have seen it.
      guard tellsFrames, seen.watchedMilliseconds > decoderMilliseconds else { return nil }
      isKept = false
    }
    return (PromiseKey(url: url, version: file.version.text, network: network), isKept)
  }
}

/// The number of reports about an item by sessions and addresses in this hour: what each may add is bounded.
/// When there is no room for more counts, further reports are not admitted.
struct ItemShares {
  private var counts: [Int: Int] = [:]

  /// The maximum number of counts.
  private static let limit = 1_000_000

  /// Counts a report about the item, if it is the session's first one and the address has not reached its
  /// limit. Returns whether it was counted.
  mutating func admit(_ item: String, session: Int, address: Int, addressLimit: Int) -> Bool {
    func key(_ who: Int, _ kind: Int) -> Int {
      var hasher = Hasher()
      hasher.combine(kind)
      hasher.combine(who)
      item.utf8.forEach { hasher.combine($0) }
      return hasher.finalize()
    }
    let (mine, ours) = (key(session, 0), key(address, 1))
    guard counts[mine] == nil, counts.count + 2 <= Self.limit else { return false }
    let others = counts[ours, default: 0]
    guard addressLimit == 0 || others < addressLimit else { return false }
    counts[mine] = 1
    if addressLimit > 0 { counts[ours] = others + 1 }
    return true
  }
}
