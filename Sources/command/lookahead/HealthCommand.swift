import ArgumentParser
import FeedServer
import Service

struct HealthCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract: "Ask a running server whether it is ready, for a container's health check.",
    discussion: """
      By default, the server on this machine at LOOKAHEAD_HOST and LOOKAHEAD_PORT. Exit status: 0 \
      if it answers 200; 1 if it gives another answer, or none.
      """)

  @Option(help: "URL to ask; by default http://127.0.0.1:8080/readyz.")
  var url: String?

  @Option("timeout-milliseconds") var timeoutMilliseconds: Int

  private static let defaultPort = FeedServiceConfiguration(databasePath: "").application.server
    .port

  private var target: HTTPTarget {
    get throws {
      if let url {
        guard let target = HTTPTarget(url: url) else {
          throw ValidationError(
            "--url: \"\(url)\" is not a URL such as http://127.0.0.1:8080/readyz")
        }
        return target
      }
      return HTTPTarget(
        listeningOn: Environment.text("host", default: ListeningOptions.defaultHost),
        port: Environment.number("port", default: Self.defaultPort))
    }
  }

  mutating func validate() throws {
    url = url ?? Environment.text("url")
    _ = try target
    try Setting.validate(self)
  }

  func run() throws {
    let target = try target
    let status: Int
    do {
      status = try HTTPQuestion(target).ask(timeoutMilliseconds: timeoutMilliseconds)
    } catch {
      printError("\(target): \(error)")
      throw ExitCode.failure
    }
    guard status == 200 else {
      printError(status == 0 ? "\(target): the answer is not HTTP" : "\(target): status \(status)")
      throw ExitCode.failure
    }
    print("\(target): ready")
  }
}

extension HTTPTarget {
  /// The readiness route of a server that listens on `host`: on the loopback address if `host` is the
  /// wildcard.
  init(listeningOn host: String, port: UInt16) {
    let reachable =
      switch host {
      case "0.0.0.0", "": "127.0.0.1"
      case "::": "::1"
      default: host
      }
    self.init(host: reachable, port: port, target: "/readyz")
  }
}
