import Foundation
import PrefetchClient
import Synchronization

/// A server of one feed with pictures, as the project's own answers: pages by cursor and by place, 410 for
/// cursors of rankings that are over, media by ranges. Cursors are `ranking:index:id`.
final class FakeFeed: Sendable {
  struct State {
    var ids: [String]
    var ranking = 1
    /// This many next requests for pages are answered with this status.
    var failures: [Int] = []
    var targets: [String] = []
    var noCache = 0
    /// The server's clock, and until when addresses are good.
    var date: String?
    var expiresAt: String?
    /// What pages hand out for reports.
    var reportToken: String?
    /// Of a thousand sessions, how many pages ask to share what they were.
    var recordShare = 0
    /// What pages name as the experiment on their policy: JSON.
    var experiment: String?
    /// What `/v1/networks` answers.
    var networks = "{}"
  }

  private let state: Mutex<State>
  private static let mediaBytes = 2_000

  init(count: Int) { state = Mutex(State(ids: (0..<count).map { "p\($0)" })) }

  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var targets: [String] { state.withLock { $0.targets } }
  var noCache: Int { state.withLock { $0.noCache } }

  static func media(_ id: String) -> [UInt8] {
    (0..<mediaBytes).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ id.utf8.count) }
  }

  /// The answer to a GET of a path with its query.
  func answer(_ target: String, _ field: (String) -> String?) -> WildServer.Answer {
    guard let parts = URLComponents(string: target) else { return WildServer.Answer(status: 400) }
    if parts.path.hasPrefix("/media/") { return media(String(parts.path.dropFirst(7)), field) }
    let query = Dictionary(
      uniqueKeysWithValues: (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") })
    return state.withLock { state in
      state.targets.append(target)
      if field("Cache-Control") == "no-cache" { state.noCache += 1 }
      if !state.failures.isEmpty {
        return WildServer.Answer(
          status: state.failures.removeFirst(), fields: [("Retry-After", "0")],
          body: Array(#"{"type":"urn:lookahead:problem:overloaded"}"#.utf8))
      }
      if parts.path.hasSuffix("/v1/networks") {
        return WildServer.Answer(status: 200, body: Array(state.networks.utf8))
      }
      return page(query, state)
    }
  }

  private func media(_ id: String, _ field: (String) -> String?) -> WildServer.Answer {
    let file = Self.media(id)
    let range = field("Range").map { $0.dropFirst(6).split(separator: "-") } ?? ["0"]
    let first = Int(range[0]) ?? 0
    let end = min(range.count > 1 ? (Int(range[1]) ?? 0) + 1 : file.count, file.count)
    return WildServer.Answer(
      fields: [
        ("ETag", "\"\(id)\""), ("Content-Type", "image/jpeg"),
        ("Content-Range", "bytes \(first)-\(end - 1)/\(file.count)"),
      ], body: Array(file[first..<end]))
  }

  private func page(_ query: [String: String], _ state: State) -> WildServer.Answer {
    let limit = Int(query["limit"] ?? "30") ?? 30
    var range = 0..<min(limit, state.ids.count)
    if let cursor = query["after"] ?? query["before"] {
      let parts = cursor.split(separator: ":")
      if parts[0] != "\(state.ranking)" && query["after"] != nil {
        return WildServer.Answer(
          status: 410, body: Array(#"{"type":"urn:lookahead:problem:expired-cursor"}"#.utf8))
      }
      let anchor = state.ids.firstIndex(of: String(parts[1])) ?? 0
      range =
        query["after"] != nil
        ? min(anchor + 1, state.ids.count)..<min(anchor + 1 + limit, state.ids.count)
        : max(0, anchor - limit)..<anchor
    } else if let place = query["around"] {
      let index =
        place.hasPrefix("offset:")
        ? Int(place.dropFirst(7)) : state.ids.firstIndex(of: place)
      guard let index else { return WildServer.Answer(status: 404) }
      let leading = query["leading"].flatMap { Int($0) } ?? limit / 2
      let trailing = query["trailing"].flatMap { Int($0) } ?? limit / 4
      range = max(0, index - trailing)..<min(state.ids.count, index + leading + 1)
    } else if let offset = query["offset"].flatMap({ Int($0) }) {
      range = min(offset, state.ids.count)..<min(offset + limit, state.ids.count)
    }
    return WildServer.Answer(
      status: 200,
      fields: [
        ("Date", state.date), ("Report-Token", state.reportToken),
        ("Record-Share", state.recordShare > 0 ? "\(state.recordShare)" : nil),
      ].compactMap {
        name, value in
        value.map { (name, $0) }
      },
      body: Array(Self.json(range, state).utf8))
  }

  private static func json(_ range: Range<Int>, _ state: State) -> String {
    let items = state.ids[range].map { id in
      """
      {"id":"\(id)","type":"image","title":"Title of \(id)","tags":["a"],"counters":{"likes":3},
      "unknown":[1,{"x":null}],"media":[{"id":"\(id).0","kind":"image","url":"/media/\(id)","version":"0000000\(id.utf8.count)",
      "mimeType":"image/jpeg","width":4,"height":3,"bytes":\(mediaBytes),
      "placeholder":{"thumbhash":"1QcSHQRnh493V4dIh4eXh1h4kJUI","color":"#6b7a3d"},
      \(state.expiresAt.map { "\"expiresAt\":\"\($0)\"," } ?? "")
      "start":{"headBytes":500,"scans":[500,2000],"new":true},"variants":[]}],
      "prefetch":{"weight":1,"minimumBytes":\(mediaBytes),"entireBytes":\(mediaBytes)}}
      """
    }
    func cursor(_ index: Int) -> String { "\"\(state.ranking):\(state.ids[index])\"" }
    let next =
      range.isEmpty || range.upperBound == state.ids.count
      ? "null" : cursor(range.upperBound - 1)
    let previous = range.lowerBound == 0 ? "null" : cursor(range.lowerBound)
    let newer = range.isEmpty ? cursor(0) : cursor(range.lowerBound)
    return """
      {"feed":{"name":"featured","total":\(state.ids.count),"ranking":\(state.ranking)},
      "items":[\(items.joined(separator: ","))],
      "paging":{"offset":\(range.lowerBound),"ranking":\(state.ranking),"next":\(next),
      "prev":\(previous),"newer":\(newer),"links":{}},
      "prefetch":{"network":"3g","policy":"weighted-5",
      \(state.experiment.map { "\"experiment\":\($0)," } ?? "")"maxCost":5,"leading":5,"trailing":1,
      "nextPageAt":null,"plan":[],"planBytes":0}}
      """
  }
}

/// Brings a `FakeFeed`'s answers without any network.
struct FakeFeedTransport: Transport {
  let feed: FakeFeed

  func answer(to request: TransportRequest) async throws(TransportError) -> TransportAnswer {
    if request.content != nil {
      return TransportAnswer(
        status: 202, fields: TransportFields([]), body: MemoryTransport.Body([], cutAt: nil))
    }
    let target = request.url.path() + (request.url.query().map { "?" + $0 } ?? "")
    let answer = feed.answer(target) { name in
      request.fields.first { $0.name == name }?.value
    }
    return TransportAnswer(
      status: answer.status, fields: TransportFields(answer.fields),
      body: MemoryTransport.Body(answer.body, cutAt: answer.cutAt))
  }
}
