import Catalog
import Feed
import Prefetch

/// A store in a database, with everything that the program does with one, the same for every database.
///
/// Besides the errors that a method names, each throws the store's own failures.
package protocol DatabaseStore: FeedStore, PolicyStore, MediaStore, ReportStore, ExperimentStore,
  ChangeStore, TableStore
{
  /// The name of the database for a person, without a password.
  var name: String { get }
  /// The name of the kind of database in metrics: `sqlite`.
  var kind: String { get }
  /// The database software, in one line.
  func software() throws -> String
  /// The reason why this program may not write to the database, as far as its rights show; `nil` if it may.
  func writeProblem() throws -> String?
  /// Reads the tops of feeds, so that first pages can be answered, and then reads the rest on a thread of
  /// the store.
  func beginLoading() throws
  /// Whether other writers can wake `waitForChanges`; otherwise it returns at once.
  var hearsOfChanges: Bool { get }
  /// Whether requests are answered from memory while the database cannot be reached, since other servers of
  /// it are in the same position.
  var outlivesDatabase: Bool { get }
  /// Waits until another process has written, or the time is over.
  func waitForChanges(atMostMilliseconds limit: Int)
  /// Checks the content of the database.
  ///
  /// - Returns: the findings; empty if the database is sound.
  func check() throws -> [CheckFinding]
  /// Deletes old posts and rankings, while others read and write.
  ///
  /// - Parameters:
  ///   - isDryRun: whether to count only.
  ///   - onProgress: gets the summary so far.
  /// - Throws: `FeedError.unknownFeed`.
  func prune(
    _ rule: PruningRule, isDryRun: Bool, onProgress: (PruningSummary) -> Void
  ) throws -> PruningSummary
  /// Indexes words of posts that are not indexed yet, in a database that is older than the index or in a
  /// copy, while others read and write: the newest of these posts first, and at most `limit`.
  ///
  /// - Returns: the number below which posts are left; 0 if none are.
  func indexTexts(atMost limit: Int) throws -> Int64
  /// Makes a setting the policy of a feed on a network. Values that the setting lacks stay as in the
  /// current policy.
  ///
  /// - Parameters:
  ///   - setting: the strategy, and the weights of images and videos; its name is the policy's.
  ///   - feed: `nil` for all feeds that have no policy of their own.
  ///   - evidence: a JSON object of at most 64 KiB.
  /// - Throws: `PolicyApplicationError`.
  func apply(
    _ setting: Policy, feed: String?, network: String, evidence: [UInt8], at time: Timestamp) throws
  /// Restores the policy from before the last setting of a feed and network was applied.
  ///
  /// - Throws: `PolicyApplicationError`; then nothing is changed.
  func undoPolicy(feed: String?, network: String) throws
  /// Takes the lock that shows that this process reads the media files of the database, for as long as the
  /// result is held; `nil` if another process holds it.
  func lockMedia() throws -> (any Sendable)?
  /// Finishes the accepted writes, refuses later ones, and closes the database.
  func close() throws
}

/// The schema of a database, for the `migrate` commands.
package protocol DatabaseSchema: Sendable {
  /// Applies the pending migrations, and creates the database's tables if they are absent.
  ///
  /// - Returns: the names of the migrations that were applied.
  func migrate() throws -> [String]
  /// Returns every migration, with the time at which it was applied.
  func status() throws -> [MigrationStatus]
  /// Checks that the applied migrations are this program's.
  func verify() throws
}
