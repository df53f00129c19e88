import ArgumentParser
import Service
import Logging
import Observability

/// What is logged, where to, and how.
struct LogOptions: ParsableArguments {
  @Option(help: "trace, debug, info, notice, warning, error or critical.")
  var logLevel = Environment.logLevel("LOG_LEVEL", default: .info)

  @Option(help: "text or json; by default text on a terminal and json elsewhere.")
  var logFormat: LogFormat?

  @Option(help: "Where the log goes instead of standard error; SIGHUP opens it anew.")
  var logFile: String?

  @Flag(inversion: .prefixedNo, help: "A line for each request, at the level info.")
  var accessLog = Environment.flag("ACCESS_LOG", default: true)

  @Option(help: "Lines that wait to be written; then they are dropped and counted.")
  var logBufferBytes = Environment.number(
    "LOG_BUFFER_BYTES", default: LogSink.defaultMaximumBytes)

  mutating func validate() throws {
    logFormat = logFormat ?? Environment.option("LOG_FORMAT")
    logFile = logFile ?? Environment.text("LOG_FILE")
    try Environment.validate()
  }

  /// The file, or else standard error, and swift-log through it.
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
