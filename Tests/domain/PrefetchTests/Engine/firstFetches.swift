import Feed
import Prefetch

/// What is asked for first of a clip in chunks, in two bitrates, over a link that carries one transfer at a time.
func firstFetches() -> [String] {
  let files = [("best", 1_850), ("small", 750)].map { name, kbps in
    PrefetchFile(
      key: "https://example.org/\(name).mp4",
      load: MediaLoad(
        kind: .video, bytes: 20 * kbps * 125, durationMilliseconds: 20_000,
        timing: MediaTiming(
          headBytes: kbps * 125,
          curve: (1...20).map { .init(milliseconds: $0 * 1_000, bytes: $0 * kbps * 125) })),
      chunkMilliseconds: 1_000)
  }
  let clip = PrefetchItem(
    id: "12i4he", type: .video, media: [PrefetchMedia(files: files)],
    survival: [
      WatchPoint(milliseconds: 5_000, permille: 600),
      WatchPoint(milliseconds: 20_000, permille: 250),
    ])
  var settings = PrefetchSettings()
  settings.parallelTransfers = 1
  var engine = PrefetchEngine(strategy: .expectedWait(WaitTuning()), settings: settings)
  let page = PrefetchEvent.pageArrived(.anew, items: [clip], hasPrevious: false, hasNext: false)
  return engine.handle(page, atMilliseconds: 0).compactMap { action in
    guard case .fetch(let transfer) = action.kind else { return nil }
    return "\(transfer.key) \(transfer.start)..<\(transfer.end ?? 0): \(action.reason)"
  }
}
