import ArgumentParser
import Foundation
import Prefetch
import PrefetchClient
import ShapedLink
import System
import Viewing

/// The reason why a feed could not be viewed.
enum BrowseError: Error, CustomStringConvertible {
  case feed(FeedSessionError)
  case store(RangeStoreError)
  case network(NetworkQuestionError)
  case trace(String, any Error & Sendable)
  case link(SystemError)
  case record(RangeStoreError)

  var description: String {
    switch self {
    case .feed(let error): "\(error)"
    case .store(let error): "\(error)"
    case .network(let error): "\(error)"
    case .trace(let path, let error): "\(path): \(error)"
    case .link(let error): "\(error)"
    case .record(let error): "--record: \(error)"
    }
  }
}

/// The checked arguments of `browse`.
struct BrowsePlan: Sendable {
  let server: URL
  let host: String
  let port: UInt16
  let feed: String
  let limit: Int
  let items: Int
  let paceMilliseconds: Int
  /// The strategy; `nil` for the server's policy.
  let strategy: Policy.Strategy?
  let network: String?
  let speed: Int
  let store: String?
  let record: String?
  /// Settings for reports to the server.
  var reporting = ReportingSettings()

  init(_ command: BrowseCommand) throws {
    guard let parts = URLComponents(string: command.url), parts.scheme?.lowercased() == "http",
      let host = parts.host, !host.isEmpty, let port = UInt16(exactly: parts.port ?? 80),
      let origin = URL(string: "http://\(parts.percentEncodedHost ?? host):\(port)")
    else {
      throw ValidationError("\"\(command.url)\" is not a URL such as http://127.0.0.1:8080")
    }
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = port
    server = origin
    func parameter(_ name: String) -> String? {
      parts.queryItems?.first { $0.name == name }?.value
    }
    guard let feed = command.feed ?? parameter("feed") else {
      throw ValidationError("--feed is missing, and the URL names no feed")
    }
    self.feed = feed
    guard let limit = Int(parameter("limit") ?? "30"), (1...100).contains(limit) else {
      throw ValidationError("the URL's limit is not in 1…100")
    }
    self.limit = limit
    guard (1...10_000_000).contains(command.items) else {
      throw ValidationError("--items: \(command.items) is not in 1…10000000")
    }
    items = command.items
    guard let pace = Self.milliseconds(command.pace) else {
      throw ValidationError("--pace: \"\(command.pace)\" is not a time such as 1s or 500ms")
    }
    paceMilliseconds = pace
    let strategy = command.strategy ?? (command.report ? Self.policy : "expected-wait")
    do throws(StrategyError) {
      self.strategy = try strategy == Self.policy ? nil : Policy.Strategy(text: strategy)
    } catch {
      let names = Policy.Strategy.usual.map(\.name).joined(separator: ", ")
      throw ValidationError("--strategy: \(error); known strategies: \(names), \(Self.policy)")
    }
    guard (1...100).contains(command.speed) else {
      throw ValidationError("--speed: \(command.speed) is not in 1…100")
    }
    (speed, network, store, record) =
      (command.speed, command.network, command.store, command.record)
    reporting.isOn = command.report
    reporting.client = "lookahead browse"
  }

  /// The name of the server's policy in place of a strategy's name.
  private static let policy = "policy"

  /// Parses `1s`, `1.5s`, `500ms`, up to an hour.
  private static func milliseconds(_ text: String) -> Int? {
    let isShort = text.hasSuffix("ms")
    guard isShort || text.hasSuffix("s"), let number = Double(text.dropLast(isShort ? 2 : 1)),
      number > 0, number <= 3_600_000
    else { return nil }
    let milliseconds = isShort ? number : number * 1_000
    return (1...3_600_000).contains(milliseconds) ? Int(milliseconds) : nil
  }
}

extension BrowsePlan {
  /// Views the feed.
  func run() async throws(BrowseError) -> BrowseReport {
    let link = try await link()
    defer { link?.stop() }
    let transport = SocketTransport(throughPort: link?.port)
    let store = try rangeStore(transport)
    var feedSettings = FeedSessionSettings()
    feedSettings.limit = limit
    feedSettings.retryMilliseconds /= speed
    if strategy == nil, !isTrace { feedSettings.network = network }
    let session = FeedSession(
      server: server, feed: feed, transport: transport, settings: feedSettings)
    let clock = SessionClock(speed: speed)
    // Without a policy, the client uses the server's, or that of the arm that it draws.
    let policy = strategy.map { strategy in
      var policy = Policy(name: strategy.name, strategy: strategy)
      policy.itemsPerMinute = max(1, min(6_000, 60_000 / paceMilliseconds))
      return policy
    }
    var settings = PrefetchSettings()
    settings.heldBytes = RangeStoreLimits().bytes
    let recorder = try recorder()
    let prefetcher = Prefetcher(
      session: session, store: store, policy: policy, settings: settings, clock: clock,
      recorder: recorder, reporting: reporting)
    var viewing = Viewer.Settings()
    (viewing.items, viewing.paceMilliseconds) = (items, paceMilliseconds)
    let outcome: Viewer.Outcome
    do throws(FeedSessionError) {
      outcome = try await Viewer(prefetcher, settings: viewing, clock: clock).view()
    } catch {
      throw .feed(error)
    }
    // A full disk ends the record, not the viewing.
    if let record, let error = recorder?.error { printError("\(record): \(error)") }
    return BrowseReport(
      plan: self, strategy: await prefetcher.policy.strategy,
      arm: strategy == nil ? await session.arm : nil, outcome: outcome,
      milliseconds: clock.milliseconds,
      bytes: max(outcome.figures.bytes, transport.arrivedBytes), linkBytes: link?.figures.downBytes)
  }

  private func recorder() throws(BrowseError) -> SessionRecorder? {
    guard let record else { return nil }
    do throws(RangeStoreError) {
      return try SessionRecorder(file: URL(fileURLWithPath: record))
    } catch {
      throw .record(error)
    }
  }

  private func rangeStore(_ transport: SocketTransport) throws(BrowseError) -> RangeStore {
    var limits = RangeStoreLimits()
    // The engine retries on its own, on the viewing's own clock.
    limits.retries = 1
    limits.retryMilliseconds /= speed
    do throws(RangeStoreError) {
      return try store.map { path throws(RangeStoreError) in
        try RangeStore(folder: URL(fileURLWithPath: path), transport: transport, limits: limits)
      } ?? RangeStore(transport: transport, limits: limits)
    } catch {
      throw .store(error)
    }
  }

  /// Whether the network is a file.
  private var isTrace: Bool { network.map(FileManager.default.fileExists(atPath:)) ?? false }

  /// The shaped link to the server; `nil` to use the network unchanged.
  private func link() async throws(BrowseError) -> ShapedLink? {
    guard let network else { return nil }
    let schedule: LinkSchedule
    if let trace = FileManager.default.contents(atPath: network) {
      do throws(LinkTraceError) {
        schedule = try LinkSchedule(trace: Array(trace))
      } catch {
        throw .trace(network, error)
      }
    } else {
      do throws(NetworkQuestionError) {
        schedule = LinkSchedule(
          try await NetworkProfile.named(network, of: server, over: SocketTransport()))
      } catch {
        throw .network(error)
      }
    }
    do throws(SystemError) {
      return try ShapedLink(toPort: port, host: host, schedule, pace: .realTime(speed: speed))
    } catch {
      throw .link(error)
    }
  }
}
