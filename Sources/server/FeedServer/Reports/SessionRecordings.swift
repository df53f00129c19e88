import CoreMetrics
import struct Feed.RecordError
import Logging
import Observability
import PostJSON
import Prefetch
import Reports
import Synchronization
import System

/// Stores the sessions that clients share, as files that `lookahead lab replay` reads: up to the size limit
/// of the folder, and no longer than reports.
///
/// A file does not reveal its client or its hour: its name is random, and its time is the beginning of the
/// day. It is written completely or not at all (first under a temporary name). Sessions wait in a bounded
/// list; those beyond are dropped, and a killed process loses the waiting ones.
final class SessionRecordings: Sendable {
  /// The result for a session.
  enum Outcome: String, CaseIterable {
    case kept, passedOver, failed
  }

  private struct State {
    var waiting: [[UInt8]] = []
    /// The known size of the folder's files.
    var heldBytes: Int?
    var droppedDay = -1
  }

  private let folder: String
  private let limitBytes: Int
  private let days: Int
  private let logger: Logger
  private let counters: [Outcome: Counter]
  private let state = Mutex(State())

  /// The maximum number of sessions that wait to be written.
  private static let queue = 256
  /// The suffix of complete files, and the prefix of files that are being written.
  private static let (suffix, unfinished) = (".ndjson", ".new-")
  private static let daySeconds = 86_400

  /// `nil` if no session is asked to share a recording.
  init?(_ settings: ReportSettings, _ registry: PrometheusRegistry, _ logger: Logger) {
    guard settings.sharedPermille > 0, let folder = settings.recordFolder else { return nil }
    (self.folder, limitBytes, days, self.logger) = (
      folder, settings.recordBytes, settings.days, logger
    )
    counters = registry.counters(
      "lookahead_recordings_total",
      help:
        "Sessions that clients shared; passedOver: over the limit, or with an unknown policy.",
      of: Outcome.self)
  }

  /// A log of what a part shares; `nil` if the policy that the session used is unknown.
  ///
  /// - Throws: `RecordError` if it is not such a log.
  func log(
    of part: ReportPart, _ lines: String, in book: PolicyBook
  ) throws(RecordError) -> [UInt8]? {
    guard let policy = Self.policy(of: part, in: book) else {
      counters[.passedOver]?.increment()
      return nil
    }
    let engine = PrefetchEngine(policy: policy, settings: PrefetchSettings())
    let log = SessionLog.line(beginning: engine, at: 0) + lines.utf8
    do throws(SessionLogError) {
      let session = try SessionLog(log)
      guard session.looks.contains(where: { $0.dwellMilliseconds != nil }),
        !session.events.isEmpty
      else { throw SessionLogError(line: 2, problem: "no item was viewed") }
    } catch {
      // The client's first line is the second one here.
      throw RecordError(field: "record", problem: "line \(error.line - 1): \(error.problem)")
    }
    return log
  }

  /// The policy with the part's name: one in force on the feed, one on trial there, or one with this strategy
  /// text.
  private static func policy(of part: ReportPart, in book: PolicyBook) -> Policy? {
    for network in book.networks {
      for arm in [ExperimentArm.a, .b] {
        let policy = book.policy(feed: part.feed, network: network, arm: arm)
        if policy.name.isSame(as: part.policy) { return policy }
      }
    }
    guard let strategy = try? Policy.Strategy(text: part.policy) else { return nil }
    return Policy(name: part.policy, strategy: strategy)
  }

  /// Queues the log of a session to be written.
  func take(_ log: [UInt8]) {
    let isTaken = state.withLock { state in
      guard state.waiting.count < Self.queue else { return false }
      state.waiting.append(log)
      return true
    }
    if !isTaken { counters[.passedOver]?.increment() }
  }

  /// Writes the waiting sessions, and deletes the oldest files if there are too many. For one thread.
  func flush() {
    let day = WallClock.secondsSince1970 / Self.daySeconds
    let (logs, isNewDay) = state.withLock { state in
      defer { (state.waiting, state.droppedDay) = ([], day) }
      return (state.waiting, state.droppedDay != day)
    }
    guard !logs.isEmpty || isNewDay else { return }
    var kept = 0
    do throws(SystemError) {
      let folder = try OpenFolder(
        path: self.folder, purpose: "open the folder of sessions \(self.folder)")
      for log in logs {
        try write(log, to: folder, day: day)
        kept += 1
        state.withLock { $0.heldBytes = $0.heldBytes.map { $0 + log.count } }
      }
      let isFull = state.withLock { $0.heldBytes.map { $0 > limitBytes } ?? true }
      if isFull || isNewDay { try prune(folder, day: day) }
    } catch {
      counters[.failed]?.increment(by: logs.count - kept)
      logger.error("cannot store shared sessions: \(error)")
    }
    counters[.kept]?.increment(by: kept)
  }

  private func write(_ log: [UInt8], to folder: OpenFolder, day: Int) throws(SystemError) {
    let name = String(UInt64.random(in: .min ... .max), radix: 36)
    let unfinished = Self.unfinished + name
    guard let file = try folder.makeFile(named: unfinished, purpose: "keep a session") else {
      return
    }
    try file.setPermissions(0o600)
    try file.write(log[...])
    try file.setModified(Moment(secondsSince1970: day * Self.daySeconds))
    try folder.rename(unfinished, to: name + Self.suffix, purpose: "keep a session")
  }

  /// Deletes files that are too old, leftovers of killed processes, and the oldest files above the size
  /// limit.
  private func prune(_ folder: OpenFolder, day: Int) throws(SystemError) {
    let purpose = "inspect the folder of sessions \(self.folder)"
    var held: [(seconds: Int, name: String, bytes: Int)] = []
    var last: [UInt8]?
    while true {
      let names = try folder.names(after: last, limit: 1_000, purpose: purpose) { _ in true }
      for name in names.map({ String(decoding: $0, as: UTF8.self) }) {
        // Another server on the same folder may have deleted it.
        guard let status = try? folder.status(of: name, purpose: purpose), status.isRegularFile
        else { continue }
        let seconds = status.modified.secondsSince1970
        let age = day * Self.daySeconds - seconds
        if name.hasPrefix(Self.unfinished) {
          if age > Self.daySeconds { folder.remove(name) }
        } else if name.hasSuffix(Self.suffix) {
          if age > days * Self.daySeconds {
            folder.remove(name)
          } else {
            held.append((seconds, name, status.bytes))
          }
        }
      }
      guard names.count == 1_000 else { break }
      last = names.last
    }
    var bytes = held.reduce(0) { $0 + $1.bytes }
    for file in held.sorted(by: { ($0.seconds, $0.name) < ($1.seconds, $1.name) })
    where bytes > limitBytes {
      folder.remove(file.name)
      bytes -= file.bytes
    }
    state.withLock { $0.heldBytes = bytes }
  }
}
