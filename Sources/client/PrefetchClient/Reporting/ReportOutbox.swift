import Foundation
import JSON
import PostJSON
import Reports

/// What pages hand out for reports.
struct ReportTokenSource: Sendable {
  /// The last one of a feed; nil where there was none.
  let last: @Sendable (String) -> String?
  /// Asks for a page of the feed, and returns what that hands out.
  let renew: @Sendable (String) async throws(FeedSessionError) -> String?
}

/// Parts on their way to the server, in the order in which they ended. One that was not answered is sent again with the
/// next one: the server counts it once.
actor ReportOutbox {
  private struct Waiting {
    let part: ReportPart
    let since: Date
  }

  private let url: URL
  private let transport: any Transport
  private let settings: ReportingSettings
  private let tokens: ReportTokenSource
  private let now: @Sendable () -> Date
  private var waiting: [Waiting] = []
  /// Sends what waits.
  private var sending: Task<Void, Never>?
  /// The server takes none.
  private var isOff = false
  private var notBefore: Date?

  /// How many parts wait at the most: the oldest go.
  private static let limit = 100

  init(
    to url: URL, over transport: any Transport, settings: ReportingSettings,
    tokens: ReportTokenSource,
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.url, self.transport, self.settings, self.now) = (url, transport, settings, now)
    self.tokens = tokens
    if let file = settings.file { waiting = Self.read(file) }
  }

  /// Adds a part, and sends what waits; returns when there was an answer to it, or to one before that is to be sent again.
  func send(_ part: ReportPart) async {
    guard !isOff else { return }
    waiting.append(Waiting(part: part, since: now()))
    waiting.removeFirst(max(0, waiting.count - Self.limit))
    // It is kept before anything can happen to it.
    write()
    // What is being sent may have looked at the last part already.
    while let sending { await sending.value }
    let task = Task { await sendAll() }
    sending = task
    await task.value
  }

  private func sendAll() async {
    defer { sending = nil }
    guard notBefore.map({ $0 <= now() }) ?? true else { return }
    while let first = waiting.first {
      let age = Int(max(0, min(1e9, now().timeIntervalSince(first.since))) * 1_000)
      // The server would refuse it.
      guard age <= ReportLimits.ageMilliseconds else {
        drop(first)
        continue
      }
      var outcome = await post(first.part, age: age, tokens.last(first.part.feed))
      // The token is over, or of a session long ago.
      if outcome == .forbidden { outcome = await postAgain(first.part, age: age) }
      switch outcome {
      case .taken, .refused, .forbidden: drop(first)
      case .off:
        isOff = true
        waiting = []
        write()
      case .later(let seconds):
        notBefore = now().addingTimeInterval(Double(seconds))
        return
      }
    }
  }

  private func drop(_ sent: Waiting) {
    waiting.removeAll {
      $0.part.session == sent.part.session && $0.part.part == sent.part.part
    }
    write()
  }

  private enum Outcome: Equatable {
    case taken, refused, forbidden, off
    case later(seconds: Int)
  }

  /// With what a new page hands out; once, since a server that refuses that refuses the part.
  private func postAgain(_ part: ReportPart, age: Int) async -> Outcome {
    do throws(FeedSessionError) {
      return await post(part, age: age, try await tokens.renew(part.feed))
    } catch {
      return error.isTransient ? .later(seconds: 0) : .refused
    }
  }

  private func post(_ part: ReportPart, age: Int, _ token: String?) async -> Outcome {
    var part = part
    // A token that a server of this kind does not make would have the part refused for its length.
    part.token = token.flatMap { $0.utf8.count <= ReportLimits.tokenBytes ? $0 : nil }
    part.ageMilliseconds = age
    var writer = JSONWriter()
    writer.part(part)
    var request = TransportRequest(
      url, bypassesCaches: true, timeoutMilliseconds: settings.timeoutMilliseconds)
    request.content = TransportContent(type: "application/json", bytes: writer.bytes)
    do throws(TransportError) {
      let answer = try await transport.answer(to: request)
      answer.body.cancel()
      switch answer.status {
      case 200..<300: return .taken
      case 403: return .forbidden
      case 410: return .off
      case 408, 429, 500...:
        return .later(seconds: min(answer.fields["retry-after"].flatMap { Int($0) } ?? 0, 3_600))
      default: return .refused
      }
    } catch {
      return .later(seconds: 0)
    }
  }

  // MARK: The file

  /// Lines of a time, in seconds since 1970, and a part.
  private func write() {
    guard let file = settings.file else { return }
    var bytes: [UInt8] = []
    for entry in waiting {
      var writer = JSONWriter()
      writer.part(entry.part)
      bytes += Array("\(Int(entry.since.timeIntervalSince1970)) ".utf8) + writer.bytes + [10]
    }
    // A report that is lost is no reason to end a session.
    try? Data(bytes).write(to: file, options: .atomic)
  }

  /// What an earlier session left; lines that are none are passed over.
  private static func read(_ file: URL) -> [Waiting] {
    guard let content = try? Data(contentsOf: file) else { return [] }
    let parts = content.split(separator: 10).compactMap { line -> Waiting? in
      let head = line.prefix { $0 != 32 }
      guard let time = Double(String(decoding: head, as: UTF8.self)),
        let part = try? ReportPart(json: Array(line.dropFirst(head.count + 1)))
      else { return nil }
      return Waiting(part: part, since: Date(timeIntervalSince1970: time))
    }
    return Array(parts.suffix(limit))
  }
}
