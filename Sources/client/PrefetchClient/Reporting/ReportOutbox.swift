import Foundation
import JSON
import PostJSON
import Reports

/// A source of the tokens for reports, which pages hand out.
struct ReportTokenSource: Sendable {
  /// Returns the last token of a feed; nil if there is none.
  let last: @Sendable (String) -> String?
  /// Requests a page of the feed, and returns its token.
  let renew: @Sendable (String) async throws(FeedSessionError) -> String?
}

/// Parts on their way to the server, in the order in which they ended. A part without an answer is sent again
/// with the next one; the server counts it once.
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
  /// The task that sends the waiting parts.
  private var sending: Task<Void, Never>?
  /// Whether the server takes no reports.
  private var isOff = false
  private var notBefore: Date?

  /// The maximum number of waiting parts; the oldest are dropped.
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

  /// Adds a part, and sends all waiting parts. Returns when this part is answered, or an earlier one has to
  /// be sent again.
  func send(_ part: ReportPart) async {
    guard !isOff else { return }
    waiting.append(Waiting(part: part, since: now()))
    waiting.removeFirst(max(0, waiting.count - Self.limit))
    // The part is stored before anything can happen to it.
    write()
    // The running task may have looked at the last part already.
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
      // The server would reject the part.
      guard age <= ReportLimits.ageMilliseconds else {
        drop(first)
        continue
      }
      var outcome = await post(first.part, age: age, tokens.last(first.part.feed))
      // The token has expired, or belongs to a session long ago.
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

  /// Sends the part with the token of a new page. Once: a server that rejects a new token rejects the part.
  private func postAgain(_ part: ReportPart, age: Int) async -> Outcome {
    do throws(FeedSessionError) {
      return await post(part, age: age, try await tokens.renew(part.feed))
    } catch {
      return error.isTransient ? .later(seconds: 0) : .refused
    }
  }

  private func post(_ part: ReportPart, age: Int, _ token: String?) async -> Outcome {
    var part = part
    // A token that is too long is not this server's, and would make it reject the part.
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

  /// Writes a line for each part: the time in seconds since 1970, and the part.
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

  /// Reads the parts that an earlier session left. Malformed lines are skipped.
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
