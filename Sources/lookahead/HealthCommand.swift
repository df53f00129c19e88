import ArgumentParser

struct HealthCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract: "Ask a running server whether it is ready, for a container's health check.",
    discussion: """
      By default the one that LOOKAHEAD_HOST and LOOKAHEAD_PORT tell to listen, on this machine. Exit \
      status: 0 the answer was 200, 1 it was another, or there was none.
      """)

  @Option(help: "What to ask; by default http://127.0.0.1:8080/readyz.")
  var url: String?

  @Option(help: "How long connecting and answering may take together.")
  var timeoutMilliseconds = Environment.number("TIMEOUT_MILLISECONDS", default: 2000)

  private var target: HealthTarget {
    get throws {
      if let url {
        guard let target = HealthTarget(url: url) else {
          throw ValidationError(
            "--url: \"\(url)\" is not a URL such as http://127.0.0.1:8080/readyz")
        }
        return target
      }
      return HealthTarget(
        listeningOn: Environment.text("HOST", default: ListeningOptions.defaultHost),
        port: Environment.number("PORT", default: ListeningOptions.defaultPort))
    }
  }

  mutating func validate() throws {
    url = url ?? Environment.text("URL")
    _ = try target
    try Environment.validate()
    try requireInRange([Setting("timeout-milliseconds", timeoutMilliseconds)])
  }

  func run() throws {
    let target = try target
    let status: Int
    do {
      status = try HealthQuestion(target: target).ask(timeoutMilliseconds: timeoutMilliseconds)
    } catch {
      printError("\(target): \(error)")
      throw ExitCode.failure
    }
    guard status == 200 else {
      printError(status == 0 ? "\(target): no HTTP came back" : "\(target): status \(status)")
      throw ExitCode.failure
    }
    print("\(target): ready")
  }
}
