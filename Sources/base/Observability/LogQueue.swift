/// The lines between the threads that log and the thread that writes.
struct LogQueue: Sendable {
  private let maximumBytes: Int
  /// The waiting lines, each with its line feed.
  private var waiting: [UInt8] = []
  /// The number of bytes accepted so far.
  private(set) var takenBytes = 0
  /// The number of those bytes that were written or given up.
  private(set) var doneBytes = 0
  /// The number of lines dropped so far.
  private(set) var droppedLines = 0
  /// The number of dropped lines that the log has reported.
  private var toldLines = 0
  /// The number of callers that wait until all lines are written.
  var flushes = 0
  /// Whether no more lines come.
  var isClosed = false

  init(maximumBytes: Int) {
    self.maximumBytes = maximumBytes
  }

  /// Accepts a line or drops it; returns whether to wake the thread.
  mutating func append(_ line: [UInt8]) -> Bool {
    let count = line.count + 1
    guard takenBytes - doneBytes + count <= maximumBytes else {
      droppedLines += 1
      return false
    }
    let before = waiting.count
    waiting.append(contentsOf: line)
    waiting.append(UInt8(ascii: "\n"))
    takenBytes += count
    let half = maximumBytes / 2
    return before == 0 || (before < half && waiting.count >= half)
  }

  /// Whether there are lines to write, or the queue is closed.
  var hasWork: Bool { !waiting.isEmpty || isClosed }

  /// Whether to write now instead of gathering more lines.
  var isUrgent: Bool { flushes > 0 || isClosed || waiting.count >= maximumBytes / 2 }

  /// Exchanges the waiting lines for an empty buffer, and returns the number of dropped lines to report;
  /// `isMore` is false at the end.
  mutating func take(into batch: inout [UInt8]) -> (isMore: Bool, untoldLines: Int) {
    swap(&waiting, &batch)
    return (!batch.isEmpty || !isClosed, droppedLines - toldLines)
  }

  /// Notes that a batch was written, except for this number of lines.
  mutating func finish(bytes: Int, lostLines: Int) {
    doneBytes += bytes
    droppedLines += lostLines
  }

  /// Notes that the log has reported dropped lines.
  mutating func tell(_ lines: Int) { toldLines += lines }
}
