import Feed
import Foundation
import JSON
import PostJSON
import Synchronization

/// Requests pages of one feed from a server, validates the answers strictly, and retries after transient
/// errors.
struct PageSource: Sendable {
  let server: URL
  let feed: String
  let transport: any Transport
  let settings: FeedSessionSettings
  /// Called after each attempt, with its traffic.
  let observer: @Sendable (PageExchange) -> Void

  /// One attempt to load a page, as it crossed the network.
  struct PageExchange: Sendable {
    var bytes = 0
    /// The server's time; nil if the answer may come from a cache.
    var date: Date?
    /// The token for reports that the page handed out.
    var reportToken: String?
    /// The number of sessions in a thousand that the page asks to share a recording.
    var recordShare: Int?
  }

  /// Loads the page with these parameters.
  ///
  /// - Parameter bypassesCaches: whether the page must be current (a refresh). Older pages may come from
  ///   caches.
  func page(
    _ parameters: [(String, String)], bypassesCaches: Bool
  ) async throws(FeedSessionError) -> FeedPage {
    var attempt = 0
    while true {
      do throws(FeedSessionError) {
        return try await ask(parameters, bypassesCaches)
      } catch {
        let asked = error.retryAfterMilliseconds ?? 0
        guard error.isTransient, attempt < settings.retries,
          asked <= settings.longestRetryMilliseconds, !Task.isCancelled
        else { throw error }
        let wait = min(
          settings.retryMilliseconds << min(attempt, 16), settings.longestRetryMilliseconds)
        attempt += 1
        try? await Task.sleep(for: .milliseconds(max(asked, wait)))
      }
    }
  }

  /// The URL of the feed's pages with these parameters.
  func url(_ parameters: [(String, String)]) -> URL {
    var all = [("feed", feed)] + parameters
    if let network = settings.network { all.append(("network", network)) }
    if settings.savesData { all.append(("saveData", "true")) }
    return url("/rp/", all)
  }

  private func url(_ path: String, _ parameters: [(String, String)]) -> URL {
    // All but the unreserved characters of RFC 3986 are escaped: also `+`, which servers read as a space.
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    let query = parameters.map { name, value in
      name + "=" + (value.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "")
    }
    .joined(separator: "&")
    var parts = URLComponents(url: server, resolvingAgainstBaseURL: true) ?? URLComponents()
    parts.path = (parts.path.hasSuffix("/") ? String(parts.path.dropLast()) : parts.path) + path
    parts.percentEncodedQuery = query
    return parts.url ?? server
  }

  private func ask(
    _ parameters: [(String, String)], _ bypassesCaches: Bool
  ) async throws(FeedSessionError) -> FeedPage {
    let body = try await ask(url(parameters), bypassesCaches)
    do throws(RecordError) {
      return try FeedPage(json: body)
    } catch {
      throw .malformed(error)
    }
  }

  /// Loads the networks, with the feed's policies on them.
  func networks() async throws(FeedSessionError) -> JSONDocument {
    let body = try await ask(url("/v1/networks", [("feed", feed)]), true)
    do throws(JSONError) {
      return try JSONDocument(body)
    } catch {
      throw .malformed(RecordError(field: "", problem: "is not JSON: \(error)"))
    }
  }

  private func ask(
    _ url: URL, _ bypassesCaches: Bool
  ) async throws(FeedSessionError) -> [UInt8] {
    var request = TransportRequest(
      url, bypassesCaches: bypassesCaches, timeoutMilliseconds: settings.timeoutMilliseconds)
    if bypassesCaches { request.fields.append(("Cache-Control", "no-cache")) }
    var exchange = PageExchange()
    defer { observer(exchange) }
    let (answer, body): (TransportAnswer, [UInt8])
    do throws(TransportError) {
      answer = try await transport.answer(to: request)
      if bypassesCaches { exchange.date = answer.fields["date"].flatMap(Date.init(http:)) }
      if answer.status == 200 {
        exchange.reportToken = answer.fields["report-token"]
        exchange.recordShare = answer.fields["record-share"].flatMap { Int($0) }
      }
      body = try await read(answer.body, &exchange)
    } catch {
      throw .transport(error)
    }
    guard body.count <= settings.pageBytes else {
      throw .tooLong(limitBytes: settings.pageBytes)
    }
    guard answer.status == 200 else {
      let problem = try? JSONDocument(body).root.member("type")?.text
      throw .status(
        answer.status, problem: problem,
        retryAfterMilliseconds: answer.fields.retryAfterMilliseconds)
    }
    return body
  }

  /// Reads the body to its end, or until it exceeds the limit.
  private func read(
    _ body: any TransportBody, _ exchange: inout PageExchange
  ) async throws(TransportError) -> [UInt8] {
    var read: [UInt8] = []
    while read.count <= settings.pageBytes, let bytes = try await body.next() {
      exchange.bytes += bytes.count
      read += bytes
    }
    if read.count > settings.pageBytes { body.cancel() }
    return read
  }
}

extension Date {
  /// Parses a `Date` field in the form that servers send, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 section
  /// 5.6.7).
  init?(http text: String) {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    guard let date = formatter.date(from: text) else { return nil }
    self = date
  }
}

/// The cost of requests for pages.
public struct PageTraffic: Hashable, Sendable {
  /// The number of requests, including failed ones.
  public var requests = 0
  /// The number of bytes of bodies, as the transport delivers them.
  public var bytes = 0
}

/// Counts the network traffic for pages.
final class PageMeter: Sendable {
  private let state = Mutex(PageTraffic())
  /// The number of seconds by which the server's clock is ahead of this device's, according to its last fresh
  /// answer.
  private let ahead = Mutex(TimeInterval(0))
  private let token = Mutex<String?>(nil)
  private let share = Mutex(0)

  var traffic: PageTraffic { state.withLock { $0 } }

  /// The token for reports from the latest page that had one; nil if none did.
  var reportToken: String? { token.withLock { $0 } }

  /// The number of sessions in a thousand that pages ask to share a recording.
  var recordShare: Int { share.withLock { $0 } }

  /// The number of milliseconds until a time on the server's clock.
  func milliseconds(until time: Timestamp) -> Int {
    let here = Double(time.microseconds) / 1e6 - ahead.withLock { $0 }
    return Int(min(max((here - Date().timeIntervalSince1970) * 1_000, -1e15), 1e15))
  }

  func add(_ exchange: PageSource.PageExchange) {
    state.withLock {
      $0.requests += 1
      $0.bytes += exchange.bytes
    }
    if let handed = exchange.reportToken { token.withLock { $0 = handed } }
    if let asked = exchange.recordShare { share.withLock { $0 = asked } }
    guard let date = exchange.date else { return }
    ahead.withLock { $0 = date.timeIntervalSinceNow }
  }
}
