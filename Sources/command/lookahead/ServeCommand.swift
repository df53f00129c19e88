import ArgumentParser
import CoreMetrics
import Service
import Foundation
import Logging
import Observability
import System
import Version

struct ServeCommand: ParsableCommand, CustomReflectable {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve the feeds, migrating the database first if needed.",
    discussion: """
      SIGTERM and SIGINT end the server without losing a request: /readyz turns 503, no new \
      connections are accepted, requests in flight finish, and the exit status is 0. SIGHUP \
      reopens --log-file and reads --write-token-file again; without these options it does \
      nothing.
      """)

  /// Its options are direct options of the command: in debug builds each group around options costs time
  /// (`ServeSettings`).
  private var settings = ServeSettings()

  init() {}

  init(from decoder: any Decoder) throws { settings = try ServeSettings(from: decoder) }

  var customMirror: Mirror { Mirror(reflecting: settings) }

  func validate() throws { try settings.validate() }

  func run() throws {
    // Blocks signals before any thread starts, so that every thread blocks them.
    Signals.block()
    let check = try settings.startCheck()
    var configuration = check.configuration
    Heap.adapt(eventLoops: configuration.application.server.eventLoops)
    configuration.application.openMediaFiles = check.openMediaFiles
    let findings = check.findings
    let refusals = findings.filter { $0.severity == .refusal }.map(\.text)
    guard refusals.isEmpty else { throw ValidationError(refusals.joined(separator: "\n")) }
    let (sink, logFile) = try settings.log.bootstrap()
    defer { sink.flush() }
    settings.log.apply(to: &configuration, sink)
    MetricsSystem.bootstrap(configuration.application.figures)
    let version = [
      ("version", ProgramVersion.number), ("commit", ProgramVersion.commit ?? "unknown"),
    ]
    configuration.application.figures.describe(
      "lookahead_build_info", help: "Version and commit of the program.")
    Meter(label: "lookahead_build_info", dimensions: version).set(1)
    let logger = Logger(label: "lookahead")
    for finding in findings {
      logger.log(level: finding.severity == .note ? .info : .warning, "\(finding.text)")
    }

    let service = try FeedService(configuration, logger: logger)
    let port = try service.start()
    let host = settings.listening.urlHost
    announce("serving \(configuration.location.name) on http://\(host):\(port)/", logger)
    tellManager("READY=1", logger)
    if service.hasNoFeeds {
      printError(
        "the database has no feed yet: `lookahead seed --database \(configuration.location.name) FILE…` "
          + "fills it while this server runs; see `lookahead seed --help`")
    }
    while Signals.wait() == .hangUp {
      reopen(logFile, logger)
      readTokens(for: service, logger)
    }
    tellManager("STOPPING=1", logger)
    service.drain()
    try service.wait()
  }

  /// Prints the URL of the server. If standard output has no reader, the server continues.
  private func announce(_ line: String, _ logger: Logger) {
    do throws(SystemError) {
      try StandardStream.output.write(Array((line.escapedForTerminal() + "\n").utf8))
    } catch {
      if error.code != EPIPE { logger.warning("\(error)") }
    }
  }

  /// Notifies a service manager that waits for the start (systemd's `Type=notify`).
  private func tellManager(_ state: String, _ logger: Logger) {
    let path = ProcessInfo.processInfo.environment["NOTIFY_SOCKET"]
    do throws(SystemError) {
      try ServiceNotification(path: path)?.send(state)
    } catch {
      logger.warning("\(error)")
    }
  }

  /// Reads the file of tokens on SIGHUP, which an operator sends after a change. If the server could not
  /// start with the new file, the previous tokens stay in force.
  private func readTokens(for service: FeedService, _ logger: Logger) {
    guard settings.writes.writeTokenFile != nil else { return }
    do {
      let check = try settings.startCheck()
      let findings = check.writeFindings
      if let refusal = findings.first(where: \.isRefusal) { throw ValidationError(refusal.text) }
      for finding in findings { logger.warning("\(finding.text)") }
      let tokens = check.configuration.application.writeTokens
      service.replace(writeTokens: tokens)
      logger.notice(
        "write tokens reloaded",
        metadata: ["names": "\(tokens.map(\.name).joined(separator: ","))"])
    } catch {
      logger.error("write tokens not reloaded, the previous ones stay in force: \(error)")
    }
  }

  /// Reopens the log on SIGHUP, which an operator sends after moving the file; without a log file the signal
  /// has no effect.
  private func reopen(_ file: LogFile?, _ logger: Logger) {
    guard let file else { return }
    do {
      try file.reopen()
      logger.notice("log reopened")
    } catch {
      logger.error("\(error)")
    }
  }
}
