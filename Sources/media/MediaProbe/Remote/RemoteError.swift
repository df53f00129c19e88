import System

/// The reason why a URL could not be read. Each case describes itself in a clause.
package enum RemoteError: Error, Sendable, Hashable {
  /// curl is not installed.
  case noCurl
  /// The URL is not accepted; the value is the reason.
  case malformed(String)
  /// The scheme is neither `http` nor `https`.
  case otherScheme(String)
  /// No setting allows the host.
  case hostNotAllowed(String)
  /// The host is this machine or in its networks.
  case privateAddress(host: String, address: String)
  /// The host has no address; the value is the reason.
  case unresolved(host: String, String)
  /// There are more redirections than this.
  case tooManyRedirections(Int)
  /// An https URL redirects to http.
  case insecureRedirection
  /// The server responded with this status.
  case status(Int)
  /// The server sent more than was requested: it does not support ranges.
  case ignoresRanges
  /// The response violates HTTP; the value says how.
  case badAnswer(String)
  /// The file changed since the first request.
  case changed
  /// The file requires more bytes than this limit.
  case tooMuchToRead(limitBytes: Int)
  /// The request took too long.
  case timedOut(milliseconds: Int)
  /// The message of curl.
  case failed(String)
}

extension RemoteError: CustomStringConvertible {
  /// A clause, for example `its server answered with status 404`.
  package var description: String {
    switch self {
    case .noCurl: "curl is not installed, but URLs require it"
    case .malformed(let words): "it is not a URL that can be fetched: \(words)"
    case .otherScheme(let scheme): "the scheme \(scheme) is not http or https"
    case .hostNotAllowed(let host):
      "the host \(host) is not allowed; --allow-host \(host) allows it"
    case .privateAddress(let host, let address):
      "the host \(host) has the address \(address), which is not on the public Internet; "
        + "--allow-private-addresses allows it"
    case .unresolved(_, let words): words
    case .tooManyRedirections(let limit): "it is redirected more than \(limit) times"
    case .insecureRedirection: "it is redirected from https to http"
    case .status(let status): "its server answered with status \(status)"
    case .ignoresRanges: "its server sends the whole file instead of the requested ranges"
    case .badAnswer(let words): "its server's answer is malformed: \(words)"
    case .changed: "it changed while it was read"
    case .tooMuchToRead(let limitBytes):
      "more than \(limitBytes) bytes of it would have to be read"
    case .timedOut(let milliseconds): "it was not fetched within \(milliseconds) ms"
    case .failed(let words): "it could not be fetched: \(words)"
    }
  }
}
