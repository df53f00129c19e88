import Catalog
import Postgres
import Synchronization
import System

/// A standby, or whichever of several answers, that is read before the primary is.
///
/// Theory of operation. The catalog follows the primary alone, since a standby cannot say in which order transactions
/// were committed. A standby's rows are valid if they are not older than the catalog: it says how far it has replayed
/// before it reads them, and that is a version of the catalog of which it has everything (`ReplayedVersions`).
/// Rows that have not changed since equal the primary's, however far behind the standby is; changed and missing rows
/// are read from the primary within the same request.
///
/// A thread checks once a second whether the standby is reachable. Requests never try to connect to an unreachable
/// standby: only these checks do.
package final class Standby: Sendable {
  /// What became of a read.
  package enum Outcome: String, CaseIterable, Sendable {
    /// The standby answered it.
    case answered
    /// What it has may be older than what the server knows already: the primary was asked.
    case behind
    /// It does not have it: the primary was asked whether there is such a thing.
    case missing
    /// It is not there, or could not answer: the primary was asked.
    case failed
  }

  /// What there is to be told of it.
  package struct Status: Sendable {
    /// Why it is not read; `nil` where it is.
    package let problem: String?
    /// How many bytes of the write-ahead log of what this process has seen of the primary it had yet to replay at the
    /// last look.
    package let lagBytes: Int64
    /// For how long this process had known by then what it did not have.
    package let lagMilliseconds: Int64
    /// The reads so far.
    package let reads: [Outcome: Int]
  }

  private struct State {
    var versions = ReplayedVersions()
    var timelines = FollowedTimelines()
    /// At the last look that succeeded.
    var position: ServerPosition?
    var problem: String? = "it was not checked yet"
    var lag: (bytes: Int64, time: Duration) = (0, .zero)
    var reads: [Outcome: Int] = [:]
    var nextLook: ContinuousClock.Instant?
  }

  /// What it is called, without a password.
  package var name: String { address.name }

  private let address: DatabaseAddress
  private let options: Connection.Options
  private let connections: ConnectionPool
  private let state = Mutex(State())
  private let looking = WorkerPool(threads: 1, limit: 1)

  private static let lookPause = Duration.seconds(1)
  /// The caller can ask the primary instead: the timeouts for a silent standby are shorter than the primary's.
  private static let (connectSeconds, statementMilliseconds, graceMilliseconds) = (2, 2_000, 500)

  init(_ address: DatabaseAddress, _ settings: PostgresStore.Connections) {
    self.address = address
    var options = Connection.Options(
      connectSeconds: min(settings.connectSeconds, Self.connectSeconds),
      statementMilliseconds: min(settings.statementMilliseconds, Self.statementMilliseconds),
      server: .standby)
    options.graceMilliseconds = Self.graceMilliseconds
    self.options = options
    // The looks have one of their own, so that no reader waits for them.
    connections = ConnectionPool(address, options, limit: settings.readers + 1)
  }

  func close() {
    looking.wait()
    connections.close()
  }

  /// As of now.
  package var status: Status {
    state.withLock { state in
      Status(
        problem: state.problem, lagBytes: state.lag.bytes,
        lagMilliseconds: Int64(state.lag.time / .milliseconds(1)), reads: state.reads)
    }
  }

  // MARK: What the primary had

  /// The primary was read, for a catalog that is yet to be published.
  func note(primary position: ServerPosition) {
    state.withLock { $0.versions.note(primary: position) }
  }

  /// The catalog of this version was published.
  func note(_ version: StoreVersion) {
    state.withLock { $0.versions.note(version, at: .now) }
  }

  // MARK: Reading

  /// What the body reads; `nil` where the primary is to be asked.
  ///
  /// - Parameters:
  ///   - body: reads, and how far the server had come before.
  ///   - judge: whether that is an answer, given a version of which the standby has everything.
  func read<Value>(
    _ body: (Connection) throws -> (position: ServerPosition, value: Value),
    _ judge: (Value, StoreVersion) -> Outcome
  ) -> Value? {
    guard state.withLock({ $0.problem == nil }) else { return passOver(.failed) }
    do {
      let (position, value) = try connections.runOnce(body)
      let known = state.withLock { $0.versions.version(at: $0.timelines.known(position)) }
      let outcome = known.map { judge(value, $0) } ?? .behind
      guard outcome == .answered else { return passOver(outcome) }
      count(.answered)
      return value
    } catch {
      switch error as? PostgresError {
      // Until a look finds it there.
      case .lost, .cannotConnect: note(problem: "\(error)")
      case .server, .unexpected, .unreadableAddress, .tooLarge, nil: break
      }
      return passOver(.failed)
    }
  }

  private func passOver<Value>(_ outcome: Outcome) -> Value? {
    count(outcome)
    return nil
  }

  private func count(_ outcome: Outcome) {
    state.withLock { $0.reads[outcome, default: 0] += 1 }
  }

  // MARK: Looking

  /// Looks at it on another thread, where the last look is a while ago.
  func lookSoon() {
    let isDue = state.withLock { state in
      guard state.nextLook.map({ $0 <= .now }) ?? true else { return false }
      state.nextLook = .now + Self.lookPause
      return true
    }
    if isDue { _ = looking.run { self.look() } }
  }

  /// Whether it is there and can be read, and how far behind it is.
  func look() {
    do {
      let position = try positionNow()
      state.withLock { state in
        let position = state.timelines.known(position)
        state.position = position
        state.problem = Self.problem(position.history, state.versions.primary?.history)
      }
    } catch {
      note(problem: "\(error)")
    }
    state.withLock { state in
      if let position = state.position { state.lag = state.versions.lag(at: position, .now) }
    }
  }

  private func positionNow() throws -> ServerPosition {
    func ask(_ connection: Connection) throws -> ServerPosition {
      try ServerPosition(connection.run([ServerPosition.statement])[0])
    }
    // Where there was no standby last time, there may be one now: then all go to that.
    if state.withLock({ $0.position?.isStandby == false }),
      let found = try? ask(Connection(address, options)), found.isStandby
    {
      connections.closeIdle()
    }
    return try connections.runOnce(ask)
  }

  private func note(problem: String) { state.withLock { $0.problem = problem } }

  private static func problem(_ own: ServerHistory, _ primary: ServerHistory?) -> String? {
    guard let primary else { return "the primary was not read yet" }
    if !own.isOfSameDatabase(as: primary) {
      return "it is not a copy of the primary's database"
    }
    return own.timeline == primary.timeline
      ? nil
      : "it may not follow the primary: its timeline is \(own.timeline), the primary's "
        + "\(primary.timeline)"
  }
}
