import Sockets
import System

/// A URL to which curl sends bodies: each time to checked addresses, without redirections, within limits.
/// `RangeClient` makes requests in the same way.
package struct RemotePost: Sendable, Hashable {
  private let url: MediaURL
  /// Whether the host may be this machine or in its networks.
  private let allowsPrivateAddresses: Bool

  /// The maximum number of bytes read of a response.
  private static let answerBytes = 65_536

  /// Parses a URL.
  ///
  /// - Throws: `RemoteError` if it is not an HTTP URL.
  package init(_ text: String, allowsPrivateAddresses: Bool) throws(RemoteError) {
    url = try MediaURL(text)
    if !allowsPrivateAddresses, let address = IPAddress(url.host), !address.isPublic {
      throw .privateAddress(host: url.host, address: address.description)
    }
    self.allowsPrivateAddresses = allowsPrivateAddresses
  }

  /// The response of a target.
  package struct Answer {
    package let status: Int
    /// The value of a single `Retry-After`; nil if there is none.
    package let retryAfter: String?
  }

  /// The scheme, host and port, without the path, which may contain secrets.
  package var origin: String {
    let host = url.host.contains(":") ? "[\(url.host)]" : url.host
    let isUsual = url.port == (url.scheme == "https" ? 443 : 80)
    return "\(url.scheme)://\(host)" + (isUsual ? "" : ":\(url.port)")
  }

  /// Sends a JSON document.
  ///
  /// - Parameters:
  ///   - fields: header fields as `Name: value`.
  ///   - scratchFolder: the folder for the document meanwhile, in a file without a name.
  /// - Throws: `RemoteError` if there is no response.
  package func send(
    _ document: [UInt8], fields: [String], curl: String, timeMilliseconds: Int,
    scratchFolder: String, cancellation: Cancellation? = nil
  ) throws(RemoteError) -> Answer {
    var settings = ProbeSettings()
    settings.allowsPrivateAddresses = allowsPrivateAddresses
    settings.timeMilliseconds = timeMilliseconds
    let deadline = MonotonicClock.milliseconds + UInt64(timeMilliseconds)
    let addresses = try RangeClient.resolve(url.host, settings, deadline)
    let left = Int(deadline - min(deadline, MonotonicClock.milliseconds))
    let outcome: ChildProcess.Outcome
    do throws(SystemError) {
      let file = try ScratchFile(folder: scratchFolder)
      try file.write(document, at: 0)
      outcome = try ChildProcess(
        path: curl,
        arguments: [
          "-q", "--silent", "--show-error", "--include", "--globoff", "--path-as-is",
          "--proto", "=http,https", "--noproxy", "*", "--max-redirs", "0", "--http1.1",
          "--user-agent", "lookahead-webhook", "--header", "Expect:",
          "--header", "Content-Type: application/json",
        ] + fields.flatMap { ["--header", $0] } + ["--data-binary", "@/dev/fd/0"]
          + RangeClient.place(url, addresses),
        environment: ["LC_ALL=C"],
        limits: .init(
          timeMilliseconds: max(1, left), memoryBytes: settings.memoryBytes,
          outputBytes: Self.answerBytes),
        hasNetwork: true
      ).run(input: file.file, cancellation: cancellation)
    } catch {
      throw .failed(error.description)
    }
    switch outcome.end {
    case .exited(0), .wroteTooMuch:
      let answer = try RangeAnswer(outcome.output)
      return Answer(status: answer.status, retryAfter: try? answer.field("retry-after"))
    case .timedOut: throw .timedOut(milliseconds: timeMilliseconds)
    case .cancelled: throw .failed("it was cancelled")
    case .exited(let status): throw .failed(RangeClient.words(outcome.errors, status))
    case .signalled(let signal): throw .failed("curl was killed by signal \(signal)")
    }
  }
}
