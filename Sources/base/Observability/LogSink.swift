import System

/// Takes the lines of a log and writes them to a descriptor from a thread of its own.
///
/// Whoever logs copies a line into a buffer and goes on; it never waits for the descriptor. The
/// thread gathers for a moment and writes what is there by one `write`. Where the descriptor
/// takes nothing the buffer fills up to its limit, and further lines are dropped and counted; so
/// are those that a failed `write` loses. A line of the log then says how many.
///
/// The descriptor stays the caller's, and may be blocking or not. To be sure that all is written
/// before the program ends or the descriptor is closed, call `flush()`.
public final class LogSink: Sendable {
  /// How many bytes wait at most by default: 1 MiB.
  public static let defaultMaximumBytes = 1 << 20

  /// How lines are written.
  public let format: LogFormat
  private let queue: Monitor<LogQueue>

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - descriptor: Where lines go; 2 is the standard error.
  ///   - format: `nil` for what suits the descriptor.
  ///   - maximumBytes: How many bytes wait at most, with those on their way to the descriptor.
  ///   - now: The time of day in nanoseconds since 1970, for the line that tells of dropped ones.
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

  /// Lets the thread end once it has written what waits.
  deinit {
    queue.withLock { $0.isClosed = true }
    queue.notify()
  }

  /// How many lines were dropped so far.
  public var droppedLines: Int { queue.withLock { $0.droppedLines } }

  /// Shows how many that are.
  public func register(in registry: PrometheusRegistry) {
    registry.total(
      "lookahead_log_dropped_lines_total", help: "Log lines dropped because the buffer was full."
    ) { self.droppedLines }
  }

  /// Takes a line, without its end; drops it where the buffer is full. Never waits for the
  /// descriptor.
  func append(_ line: [UInt8]) {
    let wakes = queue.withLock { $0.append(line) }
    if wakes { queue.notify() }
  }

  /// Waits until all lines taken so far are written, or given up; at most so long.
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
