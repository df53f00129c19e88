import System

/// The thread of a `LogSink`.
struct LogWriter: Sendable {
  /// The time that lines gather before they are written. Waking the thread costs the logging thread more than
  /// the line itself does, so it must not happen for each line.
  private static let gatheringMilliseconds = 5

  let descriptor: Int32
  let format: LogFormat
  let queue: Monitor<LogQueue>
  let now: @Sendable () -> Int

  /// Starts a detached thread. The program needs it, and ends if the system has none.
  func start() {
    do throws(SystemError) {
      try startThread { run() }
    } catch {
      preconditionFailure("cannot start the log's thread: \(error)")
    }
  }

  private func run() {
    Signals.blockAll()
    var output = LogOutput(descriptor: descriptor)
    var batch: [UInt8] = []
    while true {
      queue.wait { $0.hasWork ? () : nil }
      _ = queue.wait(atMostMilliseconds: Self.gatheringMilliseconds) { $0.isUrgent ? () : nil }
      let (isMore, untoldLines) = queue.withLock { $0.take(into: &batch) }
      guard isMore else { return }
      let lostLines = output.write(batch)
      let count = batch.count
      batch.removeAll(keepingCapacity: true)
      if lostLines == 0, untoldLines > 0, output.write(note(of: untoldLines)) == 0 {
        queue.withLock { $0.tell(untoldLines) }
      }
      queue.withLock { $0.finish(bytes: count, lostLines: lostLines) }
      queue.notify()
    }
  }

  /// A line that reports the number of dropped lines.
  private func note(of lines: Int) -> [UInt8] {
    let line = LogLine(
      nanosecondsSince1970: now(), level: .warning, logger: "log",
      message: "log lines were dropped", metadata: ["dropped": .stringConvertible(lines)])
    return line.bytes(format) + [UInt8(ascii: "\n")]
  }
}

/// A descriptor for log lines, which may fail.
struct LogOutput {
  let descriptor: Int32
  /// Whether the last bytes written are the beginning of a line whose end was lost.
  private var isWithinLine = false

  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes whole lines, waiting while the descriptor would block. Lines that fail otherwise (a broken pipe,
  /// a full disk) are given up and not retried, so that the thread does not spin.
  ///
  /// - Returns: The number of lost lines.
  mutating func write(_ lines: [UInt8]) -> Int {
    if isWithinLine {
      guard Descriptor.writeAll([UInt8(ascii: "\n")], to: descriptor) == 1 else {
        return Self.count(lines[...])
      }
      isWithinLine = false
    }
    let written = Descriptor.writeAll(lines, to: descriptor)
    guard written < lines.count else { return 0 }
    isWithinLine = written > 0 && lines[written - 1] != UInt8(ascii: "\n")
    return Self.count(lines[written...])
  }

  /// The number of lines that end in these bytes.
  private static func count(_ lines: ArraySlice<UInt8>) -> Int {
    lines.reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
  }
}
