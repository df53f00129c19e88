import System

/// The thread of a `LogSink`.
struct LogWriter: Sendable {
  /// How long lines gather before they are written. Waking the thread costs who logs more than the
  /// line itself does, so that it is not to happen for each.
  private static let gatheringMilliseconds = 5

  let descriptor: Int32
  let format: LogFormat
  let queue: Monitor<LogQueue>
  let now: @Sendable () -> Int

  /// Runs on a detached thread, which the program needs: it ends if it gets none.
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

  /// A line that says how many were dropped.
  private func note(of lines: Int) -> [UInt8] {
    let line = LogLine(
      nanosecondsSince1970: now(), level: .warning, logger: "log",
      message: "log lines were dropped", metadata: ["dropped": .stringConvertible(lines)])
    return line.bytes(format) + [UInt8(ascii: "\n")]
  }
}

/// A descriptor that takes a log or does not.
struct LogOutput {
  let descriptor: Int32
  /// Whether the last that was written is the beginning of a line whose end was lost.
  private var isWithinLine = false

  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes whole lines, waiting where the descriptor would block; what fails otherwise (a broken
  /// pipe, a full disk) is given up and not tried again, so that nothing spins.
  ///
  /// - Returns: How many lines were lost.
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

  /// How many lines end in these bytes.
  private static func count(_ lines: ArraySlice<UInt8>) -> Int {
    lines.reduce(0) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
  }
}
