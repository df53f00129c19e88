import ArgumentParser
import Sockets

/// The rate limits of clients, and the identification of clients behind proxies.
struct ClientOptions: ParsableArguments {
  @Option(
    "trusted-proxies", default: "",
    "Addresses and blocks, separated by commas, of proxies whose X-Forwarded-For is trusted.")
  var trustedProxies: String

  /// - Throws: `ValidationError`.
  func blocks() throws -> [IPAddressBlock] {
    try trustedProxies.split(separator: ",").map { text in
      let text = text.filter { $0 != " " }
      guard let block = IPAddressBlock(text) else {
        throw ValidationError(
          "--trusted-proxies: \"\(text)\" is neither an address nor a block such as 10.0.0.0/8")
      }
      return block
    }
  }

  mutating func validate() throws { _ = try blocks() }
}
