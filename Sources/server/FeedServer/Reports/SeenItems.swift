import Catalog
import Feed
import Reports

/// What of an item's files its reports are held against.
struct SeenFacts {
  /// A file whose start somebody looked into.
  private struct File {
    let version: MediaVersion
    /// How many bytes start it.
    let startBytes: Int
  }

  /// What it is that plays, and how long; nil where nothing does, or that is not known.
  private let clip: (kind: MediaKind, durationMilliseconds: Int)?
  private let url: String
  /// The first file and its variants; nil for those of which too little is known.
  private let files: [File?]

  /// URLs and versions beyond are not in the ledger: databases index no longer ones.
  private static let keyBytes = 1_000

  /// Nil of an item without files.
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

  /// The view of a clip; nil where nothing of it was to be seen.
  func view(_ seen: SeenItem) -> WatchedView? {
    guard let clip, seen.readyMilliseconds != nil || seen.watchedMilliseconds > 0 else {
      return nil
    }
    return WatchedView(
      item: seen.id, kind: clip.kind, durationMilliseconds: clip.durationMilliseconds,
      watchedMilliseconds: seen.watchedMilliseconds,
      hasLeftWaiting: seen.hasLeftWaiting || seen.readyMilliseconds == nil)
  }

  /// The promise that was put to the test, and whether it held; nil where none was. It was where the client's page was of
  /// the version that is known now, what starts that was there, and the client tells of first frames.
  ///
  /// - Parameter decoderMilliseconds: in which the first frame is to come.
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
      // Who left at once could not have seen it.
      guard tellsFrames, seen.watchedMilliseconds > decoderMilliseconds else { return nil }
      isKept = false
    }
    return (PromiseKey(url: url, version: file.version.text, network: network), isKept)
  }
}

/// How often sessions and addresses have told of an item in this hour: what one of them adds is bounded, as far as there
/// is room, and beyond that nothing is added.
struct ItemShares {
  private var counts: [Int: Int] = [:]

  /// How many counts are kept.
  private static let limit = 1_000_000

  /// Whether the item is told of by this session for the first time, and by this address no more often than that.
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
