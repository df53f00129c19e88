import ArgumentParser
import Service
import Sockets

/// How often each client may ask, and how clients are told apart.
struct ClientOptions: ParsableArguments {
  private static let defaults = FeedServiceConfiguration(databasePath: "")

  @Option(help: "Requests a second for each client address; then 429. 0 does not count.")
  var requestsPerSecond = Environment.number(
    "REQUESTS_PER_SECOND", default: defaults.application.requestsPerSecond)

  @Option(help: "Requests that a client may make at once, where they are counted.")
  var requestBurst = Environment.number("REQUEST_BURST", default: defaults.application.requestBurst)

  @Option(help: "Clients that are told apart; the others share one count.")
  var rateLimitClients = Environment.number(
    "RATE_LIMIT_CLIENTS", default: defaults.application.rateLimitClients)

  @Option(
    help: "Addresses and blocks, separated by commas, of proxies whose X-Forwarded-For is believed."
  )
  var trustedProxies = Environment.text("TRUSTED_PROXIES", default: "")

  private func blocks() throws -> [IPAddressBlock] {
    try trustedProxies.split(separator: ",").map { text in
      let text = text.filter { $0 != " " }
      guard let block = IPAddressBlock(text) else {
        throw ValidationError(
          "--trusted-proxies: \"\(text)\" is neither an address nor a block such as 10.0.0.0/8")
      }
      return block
    }
  }

  mutating func validate() throws {
    try Environment.validate()
    _ = try blocks()
  }

  func apply(to configuration: inout FeedServiceConfiguration) throws {
    configuration.application.requestsPerSecond = requestsPerSecond
    configuration.application.requestBurst = requestBurst
    configuration.application.rateLimitClients = rateLimitClients
    configuration.application.trustedProxies = try blocks()
  }
}
