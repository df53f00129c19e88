import Foundation
import PrefetchClient
import PrefetchURLSession

func watchFeed(of server: URL, keptIn folder: URL) async throws -> ViewingFigures {
  let transport = URLSessionTransport()
  let store = try RangeStore(folder: folder, transport: transport)
  let session = FeedSession(server: server, feed: "featured", transport: transport)
  let policy = Policy(name: "ours", strategy: .expectedWait(WaitTuning()))
  let prefetcher = Prefetcher(session: session, store: store, policy: policy)
  try await prefetcher.begin()

  for item in await session.items {
    await prefetcher.look(at: item.id)  // It is on the screen now.
    for media in item.post.media {
      guard let url = session.url(of: media.url) else { continue }
      var count = 0
      for try await bytes in store.bytes(of: url) { count += bytes.count }  // To a player.
      print(item.post.title ?? item.id, count)
    }
  }
  await prefetcher.leaveActive()
  let figures = await prefetcher.figures
  await prefetcher.end()
  return figures
}
