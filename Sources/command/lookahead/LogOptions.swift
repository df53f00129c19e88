import ArgumentParser
import Logging
import Observability
import Service

/// Settings of the log, and of figures.
struct LogOptions: ParsableArguments {
  @Option(
    help: "Least severe level to log: trace, debug, info, notice, warning, error or critical.")
  var logLevel = Environment.logLevel("log-level", default: .info)

  @Option(help: "Log format: text or json; default: text on a terminal, otherwise json.")
  var logFormat: LogFormat?

  @Option(help: "Log file; SIGHUP reopens it. Default: standard error.")
  var logFile: String?

  @Flag("access-log", default: true, "Log each request, at level info.")
  var accessLog: Bool

  @Option("log-buffer-bytes") var logBufferBytes: Int

  mutating func validate() throws {
    logFormat = logFormat ?? Environment.option("log-format")
    logFile = logFile ?? Environment.text("log-file")
  }

  /// Opens the log file, or else standard error, and directs swift-log to it.
  ///
  /// - Throws: `LogFile.Failure`.
  func bootstrap() throws -> (sink: LogSink, file: LogFile?) {
    let file = try logFile.map { try LogFile(path: $0) }
    let sink = LogSink(
      descriptor: file?.descriptor ?? 2, format: logFormat, maximumBytes: logBufferBytes)
    let level = logLevel
    LoggingSystem.bootstrap { LineLogHandler(label: $0, sink: sink, logLevel: level) }
    return (sink, file)
  }

  func apply(to configuration: inout FeedServiceConfiguration, _ sink: LogSink) {
    configuration.application.requestLog = accessLog && logLevel <= .info ? sink : nil
  }
}

extension Logger.Level: @retroactive ExpressibleByArgument {}
extension LogFormat: ExpressibleByArgument {}
