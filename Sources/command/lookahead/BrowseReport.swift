import JSON
import Prefetch
import PrefetchClient
import Viewing

/// What a viewing came to, in words and as JSON.
struct BrowseReport: Sendable {
  let plan: BrowsePlan
  let outcome: Viewer.Outcome
  /// How long it took, in the viewing's time.
  let milliseconds: Int

  /// The statistics line.
  var text: String {
    let figures = outcome.figures
    var parts = [
      "\(plan.strategy.text) on \(plan.network ?? "this network"): \(figures.items) items",
      "\(figures.imageLoaders) loaders on images", "\(figures.videoLoaders) on videos",
      "\(Self.tenths(figures.waitMilliseconds)) s of waiting", "\(figures.bytes) bytes",
      "\(figures.wastedBytes) wasted", "\(figures.requests) requests",
    ]
    if outcome.stalls > 0 {
      parts.append("\(outcome.stalls) stalls (\(Self.tenths(outcome.stalledMilliseconds)) s)")
    }
    if outcome.listLoaders > 0 {
      parts.append(
        "\(outcome.listLoaders) times at the list's end (\(Self.tenths(outcome.listWaitMilliseconds)) s)"
      )
    }
    if outcome.hasEnded { parts.append("the feed ended") }
    return parts.joined(separator: ", ")
  }

  /// The same as an object.
  var json: String {
    let figures = outcome.figures
    var writer = JSONWriter(capacity: 512)
    writer.object { writer in
      writer.member("strategy", plan.strategy.text)
      writer.member("feed", plan.feed)
      writer.member("network", plan.network)
      writer.member("speed", plan.speed)
      writer.member("items", figures.items)
      writer.member("imageLoaders", figures.imageLoaders)
      writer.member("videoLoaders", figures.videoLoaders)
      writer.member("waitMs", figures.waitMilliseconds)
      writer.member("stalls", outcome.stalls)
      writer.member("stalledMs", outcome.stalledMilliseconds)
      writer.member("bytes", figures.bytes)
      writer.member("wastedBytes", figures.wastedBytes)
      writer.member("requests", figures.requests)
      writer.member("pageRequests", figures.pageRequests)
      writer.member("listLoaders", outcome.listLoaders)
      writer.member("listWaitMs", outcome.listWaitMilliseconds)
      writer.member("durationMs", milliseconds)
      writer.key("hasEnded")
      writer.boolean(outcome.hasEnded)
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func tenths(_ milliseconds: Int) -> String {
    "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100)"
  }
}
