import JSON
import Prefetch
import PrefetchClient
import Viewing

/// The result of a viewing, as text and as JSON.
struct BrowseReport: Sendable {
  let plan: BrowsePlan
  /// The strategy that chose what to load.
  let strategy: Policy.Strategy
  /// The drawn arm of the experiment on the feed's page: `7.b`.
  let arm: String?
  let outcome: Viewer.Outcome
  /// The duration, in the viewing's time.
  let milliseconds: Int
  /// The received bytes of media and pages, including those of cancelled requests.
  let bytes: Int
  /// All bytes that the shaped link delivered, including heads of answers; `nil` without a link.
  let linkBytes: Int?

  /// The useless bytes: those that the client counts as such, and those that it did not keep.
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

  /// The report as a JSON object.
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
