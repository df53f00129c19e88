import Foundation
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

/// Writes what happens to a file, a line of JSON each.
final class BrowseRecorder: Sendable {
  private let file: FileHandle
  private let clock: SessionClock

  /// Writes to this file, from its beginning; `nil` where that cannot be.
  init?(path: String, clock: SessionClock) {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { return nil }
    self.file = file
    self.clock = clock
  }

  func write(_ look: Viewer.Look) {
    write(at: look.atMilliseconds) { writer in
      writer.member("look", look.index)
      writer.member("item", look.item.id)
      writer.member("type", look.item.post.type.rawValue)
      writer.key("loader")
      writer.boolean(look.hadLoader)
    }
  }

  func write(_ update: Prefetcher.Update) {
    switch update {
    case .acted(let action):
      if case .waitUntil = action.kind { return }
      write { writer in
        writer.member("action", action.kind.words)
        writer.member("why", action.reason.description)
      }
    case .pageFailed(let error): write { $0.member("pageFailed", "\(error)") }
    case .itemsChanged, .placeholder, .ready, .frame: break
    }
  }

  private func write(at time: Int? = nil, _ members: (inout JSONWriter) -> Void) {
    var writer = JSONWriter(capacity: 256)
    writer.object { writer in
      writer.member("atMs", time ?? clock.milliseconds)
      members(&writer)
    }
    // A full disk costs the record, not the viewing.
    try? file.write(contentsOf: Data(writer.bytes + [UInt8(ascii: "\n")]))
  }
}

extension PrefetchAction.Kind {
  /// For example `fetch 3: 0…65535 of http://…/clip.mp4`.
  fileprivate var words: String {
    switch self {
    case .fetch(let transfer):
      "fetch \(transfer.id): \(transfer.start)…\(transfer.end.map { "\($0 - 1)" } ?? "") of \(transfer.key)"
    case .cancel(let id): "cancel \(id)"
    case .pause(let id): "pause \(id)"
    case .resume(let id): "resume \(id)"
    case .askForPage(let place): "page \(place)"
    case .showPlaceholder(let item): "placeholder \(item)"
    case .ready(let item): "ready \(item)"
    case .showFrame(let item): "frame \(item)"
    case .evict(let key, let range): "evict \(range) of \(key)"
    case .waitUntil(let time): "wait until \(time)"
    }
  }
}
