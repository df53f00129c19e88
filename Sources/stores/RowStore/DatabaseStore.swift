import Catalog
import Feed
import Prefetch

/// A store in a database, with all that the program does with one: the same for every database.
///
/// Besides the errors that a method names, each throws the store's own failures.
package protocol DatabaseStore: FeedStore, PolicyStore, MediaStore, ReportStore, ExperimentStore,
  ChangeStore, TableStore
{
  /// Which database it is, as a person may be told: without a password.
  var name: String { get }
  /// What the database is called in the names of figures: `sqlite`.
  var kind: String { get }
  /// The software that it is in, in a line.
  func software() throws -> String
  /// Why this program may not write to the database, as far as its rights tell; `nil` where it may.
  func writeProblem() throws -> String?
  /// Reads the tops of feeds, so that first pages can be answered, and then reads the rest on a thread of the
  /// store's own.
  func beginLoading() throws
  /// Whether other writers can wake `waitForChanges`; otherwise it returns at once.
  var hearsOfChanges: Bool { get }
  /// Whether what is in memory is to be answered while the database cannot be reached: other servers of it are in the
  /// same position.
  var outlivesDatabase: Bool { get }
  /// Waits until others have written something, or the time is over.
  func waitForChanges(atMostMilliseconds limit: Int)
  /// Checks what lies in the database.
  ///
  /// - Returns: what was found; nothing where all is well.
  func check() throws -> [CheckFinding]
  /// Deletes old posts and rankings, while others read and write.
  ///
  /// - Parameters:
  ///   - isDryRun: only count.
  ///   - onProgress: gets what went so far.
  /// - Throws: `FeedError.unknownFeed`.
  func prune(
    _ rule: PruningRule, isDryRun: Bool, onProgress: (PruningSummary) -> Void
  ) throws -> PruningSummary
  /// Indexes words of posts that are not indexed yet, of a database that is older than the index or of a copy, while
  /// others read and write: those of the newest of these posts first, and at most this number.
  ///
  /// - Returns: below which number posts are left; 0 where none are.
  func indexTexts(atMost limit: Int) throws -> Int64
  /// Makes a setting the policy of a feed on a network. What the setting does not say stays as the policy in force
  /// has it.
  ///
  /// - Parameters:
  ///   - setting: the strategy, and what images and videos weigh; its name is the policy's.
  ///   - feed: `nil` for all feeds that have no policy of their own.
  ///   - evidence: a JSON object of at most 64 KiB.
  /// - Throws: `PolicyApplicationError`.
  func apply(
    _ setting: Policy, feed: String?, network: String, evidence: [UInt8], at time: Timestamp) throws
  /// Puts back what stood there before the last setting of a feed and network was applied.
  ///
  /// - Throws: `PolicyApplicationError`; then nothing is changed.
  func undoPolicy(feed: String?, network: String) throws
  /// Says that this process looks into the media files of the database, as long as what is returned is held; `nil`
  /// where another does.
  func lockMedia() throws -> (any Sendable)?
  /// Finishes the writes that were taken, refuses later ones, and closes the database.
  func close() throws
}

/// The schema of a database, for the `migrate` commands.
package protocol DatabaseSchema: Sendable {
  /// Applies the pending migrations, and creates the database's tables if they are absent.
  ///
  /// - Returns: the names of the migrations that were applied.
  func migrate() throws -> [String]
  /// Every migration, with when it was applied.
  func status() throws -> [MigrationStatus]
  /// Sees that the applied migrations are this program's.
  func verify() throws
}
