import Feed
import PostJSON
import Prefetch

extension PrefetchItem {
  /// Creates the engine's description of a feed's item. URLs identify its files.
  ///
  /// - Parameters:
  ///   - url: resolves a file's reference in an item; `nil` if it is not a URL.
  ///   - time: converts a time of the server to the clock of the engine's events; `nil` where times do not
  ///     matter.
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
  /// Maps a store's error to the engine's.
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
