import Feed
import PostJSON
import Prefetch

extension PrefetchItem {
  /// What the engine has to know of an item. Its files are known by where they lie.
  ///
  /// - Parameters:
  ///   - url: where a file lies of which an item says this; `nil` where that is no URL.
  ///   - time: a time of the server's on the clock of the engine's events; `nil` where that does not matter.
  public init(
    _ item: FeedItem, url: (String) -> String?, time: (Timestamp) -> Int? = { _ in nil }
  ) {
    let media = zip(item.post.media, item.media).compactMap { media, known -> PrefetchMedia? in
      guard let key = url(media.url) else { return nil }
      let original = PrefetchFile(
        key: key,
        load: known.isUnavailable
          ? .unavailable(media.kind)
          : MediaLoad(
            kind: media.kind, bytes: media.bytes,
            durationMilliseconds: media.durationMilliseconds, timing: known.timing))
      let variants = known.variants.sorted { $0.bytes > $1.bytes }.compactMap { variant in
        url(variant.url).map {
          PrefetchFile(
            key: $0,
            load: MediaLoad(
              kind: media.kind, bytes: variant.bytes,
              durationMilliseconds: media.durationMilliseconds, timing: variant.timing))
        }
      }
      return PrefetchMedia(files: [original] + variants)
    }
    self.init(
      id: item.id, type: item.post.type, media: media,
      expiresAtMilliseconds: item.media.compactMap(\.expiresAt).min().flatMap(time),
      survival: item.survival)
  }
}

extension TransferFailure {
  /// What the engine makes of a store's error.
  init(_ error: RangeStoreError) {
    switch error {
    case .transport, .cancelled: self = .network
    case .status(let status, let milliseconds):
      self =
        status == 408 || status == 429 || status >= 500
        ? .busy(retryAfterMilliseconds: milliseconds) : .gone
    case .changed, .beyondEnd: self = .changed
    case .malformedAnswer, .notKept, .folderInUse, .system: self = .gone
    }
  }
}
