import Sockets
import System

/// Requests ranges of a URL from its server, one at a time. It connects only to the addresses that were
/// checked, whatever the name resolves to later.
struct RangeClient {
  let url: MediaURL
  private let addresses: [IPAddress]
  private let curl: String
  private let settings: ProbeSettings
  private let deadlineMilliseconds: UInt64

  private static let headBytes = 65_536

  /// Resolves the URL's host.
  ///
  /// - Throws: `RemoteError` if a setting does not allow the host or one of its addresses.
  init(
    _ url: MediaURL, _ curl: String, _ settings: ProbeSettings, deadlineMilliseconds: UInt64
  ) throws(RemoteError) {
    guard settings.allowedHosts.contains(where: { $0.allows(url.host) }) else {
      throw .hostNotAllowed(url.host)
    }
    self.url = url
    self.curl = curl
    self.settings = settings
    self.deadlineMilliseconds = deadlineMilliseconds
    addresses = try Self.resolve(url.host, settings, deadlineMilliseconds)
  }

  /// Resolves a host on a thread of its own, since the system's resolver has its own time limits.
  ///
  /// - Throws: `RemoteError` if the host has no address, or one that is not allowed.
  static func resolve(
    _ host: String, _ settings: ProbeSettings, _ deadline: UInt64
  ) throws(RemoteError) -> [IPAddress] {
    let addresses = try allAddresses(of: host, settings, deadline)
    for address in addresses where !settings.allowsPrivateAddresses && !address.isPublic {
      throw .privateAddress(host: host, address: address.description)
    }
    return addresses
  }

  private static func allAddresses(
    of host: String, _ settings: ProbeSettings, _ deadline: UInt64
  ) throws(RemoteError) -> [IPAddress] {
    if let address = IPAddress(host) { return [address] }
    let answer = Monitor<Result<[IPAddress], SystemError>?>(nil)
    do throws(SystemError) {
      try startThread {
        let result = Result { () throws(SystemError) in try IPAddress.addresses(ofHost: host) }
        answer.withLock { $0 = result }
        answer.notify()
      }
    } catch {
      throw .failed(error.description)
    }
    let left = Int(clamping: deadline - min(deadline, MonotonicClock.milliseconds))
    guard let result = answer.wait(atMostMilliseconds: left, until: { $0 }) else {
      throw .timedOut(milliseconds: settings.timeMilliseconds)
    }
    do throws(SystemError) {
      return try result.get()
    } catch {
      throw .unresolved(host: host, error.purpose)
    }
  }

  /// Requests a range, of this version if it is known.
  func ask(for range: Range<Int>, ifRange entityTag: String?) throws(RemoteError) -> RangeAnswer {
    let now = MonotonicClock.milliseconds
    guard now < deadlineMilliseconds else {
      throw .timedOut(milliseconds: settings.timeMilliseconds)
    }
    let outcome: ChildProcess.Outcome
    do throws(SystemError) {
      outcome = try ChildProcess(
        path: curl, arguments: arguments(range, entityTag), environment: ["LC_ALL=C"],
        limits: .init(
          timeMilliseconds: Int(deadlineMilliseconds - now), memoryBytes: settings.memoryBytes,
          outputBytes: range.count + Self.headBytes),
        hasNetwork: true
      ).run(cancellation: settings.cancellation)
    } catch {
      throw .failed(error.description)
    }
    switch outcome.end {
    // The caller checks the bytes that came before the limit.
    case .exited(0), .wroteTooMuch: return try RangeAnswer(outcome.output)
    case .timedOut: throw .timedOut(milliseconds: settings.timeMilliseconds)
    case .cancelled: throw .failed("it was cancelled")
    case .exited(let status): throw .failed(Self.words(outcome.errors, status))
    case .signalled(let signal): throw .failed("curl was killed by signal \(signal)")
    }
  }

  private func arguments(_ range: Range<Int>, _ entityTag: String?) -> [String] {
    var arguments = [
      // No .curlrc, no proxy, no other protocol, no unchecked redirection.
      "-q", "--silent", "--show-error", "--include", "--globoff", "--path-as-is",
      "--proto", "=http,https", "--noproxy", "*", "--max-redirs", "0", "--http1.1",
      "--user-agent", "lookahead-probe", "--header", "Accept-Encoding: identity",
      "--range", "\(range.lowerBound)-\(range.upperBound - 1)",
    ]
    if let entityTag { arguments += ["--header", "If-Range: \(entityTag)"] }
    return arguments + Self.place(url, addresses)
  }

  /// Returns curl's arguments for the URL and its only addresses.
  static func place(_ url: MediaURL, _ addresses: [IPAddress]) -> [String] {
    guard IPAddress(url.host) == nil else { return ["--url", url.description] }
    let list = addresses.map { $0.isIPv4 ? "\($0)" : "[\($0)]" }.joined(separator: ",")
    return ["--resolve", "\(url.host):\(url.port):\(list)", "--url", url.description]
  }

  /// Extracts the message from `curl: (7) Failed to connect to …`.
  static func words(_ errors: [UInt8], _ status: Int32) -> String {
    let line = String(decoding: errors, as: UTF8.self).split(whereSeparator: \.isNewline).first
    guard let line else { return "curl exited with status \(status)" }
    let words = line.firstRange(of: ") ").map { line[$0.upperBound...] } ?? line
    return String(words.prefix(160))
  }
}
