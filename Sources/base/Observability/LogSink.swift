import System

/// Accepts the lines of a log and writes them to a descriptor from a thread of its own.
///
/// A thread that logs copies its line into a buffer and continues; it never waits for the descriptor. The
/// sink's thread gathers lines for a moment and writes them with one `write`. If the descriptor blocks, the
/// buffer fills up to its limit, and further lines are dropped and counted, as are those that a failed
/// `write` loses. A line of the log then reports their number.
///
/// The caller keeps the descriptor, which may be blocking or not. To ensure that all lines are written before
/// the program ends or the descriptor is closed, call `flush()`.
public final class LogSink: Sendable {
  /// The default maximum number of waiting bytes: 1 MiB.
  public static let defaultMaximumBytes = 1 << 20

  /// The format of the lines.
  public let format: LogFormat
  private let queue: Monitor<LogQueue>

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - descriptor: The target of the lines; 2 is the standard error.
  ///   - format: `nil` for the format that suits the descriptor.
  ///   - maximumBytes: The maximum number of waiting bytes, including those that are being written.
  ///   - now: The time of day in nanoseconds since 1970, for the line that reports dropped ones.
  public init(
    descriptor: Int32 = 2, format: LogFormat? = nil,
    maximumBytes: Int = LogSink.defaultMaximumBytes,
    now: @escaping @Sendable () -> Int = { WallClock.exactNow.nanosecondsSince1970 }
  ) {
    let format = format ?? .suitable(forDescriptor: descriptor)
    let queue = Monitor(LogQueue(maximumBytes: maximumBytes))
    self.format = format
    self.queue = queue
    LogWriter(descriptor: descriptor, format: format, queue: queue, now: now).start()
  }

  /// Lets the thread end once it has written the waiting lines.
  deinit {
    queue.withLock { $0.isClosed = true }
    queue.notify()
  }

  /// The number of lines dropped so far.
  public var droppedLines: Int { queue.withLock { $0.droppedLines } }

  /// Registers the counter of dropped lines.
  public func register(in registry: PrometheusRegistry) {
    registry.total(
      "lookahead_log_dropped_lines_total", help: "Log lines dropped because the buffer was full."
    ) { self.droppedLines }
  }

  /// Accepts a line, without its line feed; drops it if the buffer is full. Never waits for the descriptor.
  func append(_ line: [UInt8]) {
    let wakes = queue.withLock { $0.append(line) }
    if wakes { queue.notify() }
  }

  /// Waits until all lines accepted so far are written or given up, for at most this time.
  ///
  /// - Returns: Whether they are.
  @discardableResult
  public func flush(atMostMilliseconds limit: Int = 2000) -> Bool {
    let end = queue.withLock { queue in
      queue.flushes += 1
      return queue.takenBytes
    }
    queue.notify()
    defer { queue.withLock { $0.flushes -= 1 } }
    return queue.wait(atMostMilliseconds: limit) { $0.doneBytes >= end ? true : nil } ?? false
  }
}
