import JSON
import Prefetch
import PrefetchClient
import Viewing

/// What a viewing came to, in words and as JSON.
struct BrowseReport: Sendable {
  let plan: BrowsePlan
  /// By what was loaded.
  let strategy: Policy.Strategy
  /// The arm that was drawn, of the experiment that the feed's page named: `7.b`.
  let arm: String?
  let outcome: Viewer.Outcome
  /// How long it took, in the viewing's time.
  let milliseconds: Int
  /// Bytes of media and pages that arrived, of requests that were cancelled meanwhile, too.
  let bytes: Int
  /// All that the shaped link brought, heads of answers included; `nil` where there was none.
  let linkBytes: Int?

  /// What of the bytes was of no use: what the client counts as such, and what it did not keep.
  var wastedBytes: Int { outcome.figures.wastedBytes + bytes - outcome.figures.bytes }

  /// The statistics line.
  var text: String {
    let figures = outcome.figures
    var parts = [
      "\(strategy.text)\(arm.map { ", arm \($0)," } ?? "") on \(plan.network ?? "this network"): \(figures.items) items",
      "\(figures.imageLoaders) loaders on images", "\(figures.videoLoaders) on videos",
      "\(outcome.delayMilliseconds / max(1, figures.items)) ms of delay an item "
        + "(\(Self.tenths(figures.waitMilliseconds)) s of waiting, "
        + "\(Self.tenths(outcome.standingMilliseconds)) s of standing)",
      "\(bytes) bytes" + (linkBytes.map { " (\($0) over the link)" } ?? ""),
      "\(wastedBytes) wasted", "\(figures.requests) requests",
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
      writer.member("strategy", strategy.text)
      writer.member("arm", arm)
      writer.member("feed", plan.feed)
      writer.member("network", plan.network)
      writer.member("speed", plan.speed)
      writer.member("items", figures.items)
      writer.member("imageLoaders", figures.imageLoaders)
      writer.member("videoLoaders", figures.videoLoaders)
      writer.member("delayMs", outcome.delayMilliseconds)
      writer.member("waitMs", figures.waitMilliseconds)
      writer.member("standingMs", outcome.standingMilliseconds)
      writer.member("stalls", outcome.stalls)
      writer.member("stalledMs", outcome.stalledMilliseconds)
      if let bitrate = outcome.bitrate {
        writer.member("kilobitsPerSecond", Int(bitrate.rounded()))
      }
      writer.member("bytes", bytes)
      writer.member("wastedBytes", wastedBytes)
      if let linkBytes { writer.member("linkBytes", linkBytes) }
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
