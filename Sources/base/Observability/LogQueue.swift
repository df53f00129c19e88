/// The lines between those who log and the thread that writes.
struct LogQueue: Sendable {
  private let maximumBytes: Int
  /// Lines that wait, each with its end.
  private var waiting: [UInt8] = []
  /// How many bytes were ever taken.
  private(set) var takenBytes = 0
  /// How many of them were written or given up.
  private(set) var doneBytes = 0
  /// How many lines were ever dropped.
  private(set) var droppedLines = 0
  /// How many of them the log has told of.
  private var toldLines = 0
  /// How many wait for all to be written.
  var flushes = 0
  /// Whether no more lines come.
  var isClosed = false

  init(maximumBytes: Int) {
    self.maximumBytes = maximumBytes
  }

  /// Takes a line or drops it; says whether the thread has something to wake for.
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

  /// Whether there is something to write, or the end.
  var hasWork: Bool { !waiting.isEmpty || isClosed }

  /// Whether it is better written now than gathered on.
  var isUrgent: Bool { flushes > 0 || isClosed || waiting.count >= maximumBytes / 2 }

  /// Gives what waits in exchange for an empty buffer, and how many dropped lines to report;
  /// `false` at the end.
  mutating func take(into batch: inout [UInt8]) -> (isMore: Bool, untoldLines: Int) {
    swap(&waiting, &batch)
    return (!batch.isEmpty || !isClosed, droppedLines - toldLines)
  }

  /// A batch was written but for this many lines.
  mutating func finish(bytes: Int, lostLines: Int) {
    doneBytes += bytes
    droppedLines += lostLines
  }

  /// The log has told of dropped lines.
  mutating func tell(_ lines: Int) { toldLines += lines }
}
