import Catalog
import Postgres
import Synchronization
import System

/// A standby, or any of several, that is read before the primary.
///
/// Theory of operation. The catalog follows the primary alone, since a standby cannot say in which order
/// transactions were committed. A standby's rows are valid if they are not older than the catalog: the
/// standby says how far it has replayed before it reads them, and that is a version of the catalog of which
/// it has everything (`ReplayedVersions`). Rows that have not changed since equal the primary's, however
/// far behind the standby is; changed and missing rows are read from the primary within the same request.
///
/// A thread checks once a second whether the standby is reachable. Requests never try to connect to an
/// unreachable standby: only these checks do.
package final class Standby: Sendable {
  /// The outcome of a read.
  package enum Outcome: String, CaseIterable, Sendable {
    /// The standby answered it.
    case answered
    /// Its data may be older than what the server already knows: the primary was asked.
    case behind
    /// It does not have the row: the primary was asked whether the row exists.
    case missing
    /// It is unreachable or could not answer: the primary was asked.
    case failed
  }

  /// The status of a standby.
  package struct Status: Sendable {
    /// The reason why it is not read; `nil` if it is read.
    package let problem: String?
    /// The bytes of the write-ahead log that this process had seen of the primary, and that the standby had
    /// yet to replay at the last check.
    package let lagBytes: Int64
    /// The time for which this process had then known what the standby did not have.
    package let lagMilliseconds: Int64
    /// The number of reads so far, by outcome.
    package let reads: [Outcome: Int]
  }

  private struct State {
    var versions = ReplayedVersions()
    var timelines = FollowedTimelines()
    /// The position at the last successful check.
    var position: ServerPosition?
    var problem: String? = "it was not checked yet"
    var lag: (bytes: Int64, time: Duration) = (0, .zero)
    var reads: [Outcome: Int] = [:]
    var nextLook: ContinuousClock.Instant?
  }

  /// The standby's name, without a password.
  package var name: String { address.name }

  private let address: DatabaseAddress
  private let options: Connection.Options
  private let connections: ConnectionPool
  private let state = Mutex(State())
  private let looking = WorkerPool(threads: 1, limit: 1)

  private static let lookPause = Duration.seconds(1)
  /// The timeouts for a silent standby are shorter than the primary's, since the caller can ask the primary
  /// instead.
  private static let (connectSeconds, statementMilliseconds, graceMilliseconds) = (2, 2_000, 500)

  init(_ address: DatabaseAddress, _ settings: PostgresStore.Connections) {
    self.address = address
    var options = Connection.Options(
      connectSeconds: min(settings.connectSeconds, Self.connectSeconds),
      statementMilliseconds: min(settings.statementMilliseconds, Self.statementMilliseconds),
      server: .standby)
    options.graceMilliseconds = Self.graceMilliseconds
    self.options = options
    // The checks have a connection of their own, so that no reader waits for them.
    connections = ConnectionPool(address, options, limit: settings.readers + 1)
  }

  func close() {
    looking.wait()
    connections.close()
  }

  /// The current status.
  package var status: Status {
    state.withLock { state in
      Status(
        problem: state.problem, lagBytes: state.lag.bytes,
        lagMilliseconds: Int64(state.lag.time / .milliseconds(1)), reads: state.reads)
    }
  }

  // MARK: Positions of the primary

  /// Records a read of the primary, for a catalog that is yet to be published.
  func note(primary position: ServerPosition) {
    state.withLock { $0.versions.note(primary: position) }
  }

  /// Records that the catalog of this version was published.
  func note(_ version: StoreVersion) {
    state.withLock { $0.versions.note(version, at: .now) }
  }

  // MARK: Reading

  /// Returns what the body reads; `nil` if the primary has to be asked.
  ///
  /// - Parameters:
  ///   - body: reads, and returns the position of the server before the read.
  ///   - judge: decides whether that is an answer, given a version of which the standby has everything.
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
      // Not read until a check finds it.
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

  // MARK: Checks

  /// Checks the standby on another thread, unless it was checked within the last second.
  func lookSoon() {
    let isDue = state.withLock { state in
      guard state.nextLook.map({ $0 <= .now }) ?? true else { return false }
      state.nextLook = .now + Self.lookPause
      return true
    }
    if isDue { _ = looking.run { self.look() } }
  }

  /// Checks whether the standby can be read, and how far it is behind.
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
    // If there was no standby at the last check, there may be one now: all connections then go to it.
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
