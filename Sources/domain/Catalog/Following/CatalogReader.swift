import Feed
import Prefetch

/// A state of a store: everything that was committed up to a moment.
public protocol CatalogMark: Equatable, Sendable {
  /// The next time at which a post becomes visible or ends; `nil` if there is none.
  var nextDue: Timestamp? { get }
}

/// The contents of a store at one moment, as far as a catalog needs them.
public protocol CatalogReader {
  /// A state of the store in the store's own terms: a pair of numbers, a snapshot's transactions. Equal
  /// marks mean that nothing was committed between them. Marks are only used to ask the store for the
  /// changes since one.
  associatedtype Mark: CatalogMark
  /// The mark of the reader's moment.
  func mark() throws -> Mark
  /// Returns every feed, in unspecified order.
  func feeds() throws -> [FeedState]
  /// Returns the feed with this number; `nil` if it does not exist.
  func feed(_ id: Int64) throws -> FeedState?
  /// Returns the stored profiles and policies.
  ///
  /// - Throws: `PolicyError` for one that is invalid; then the previous ones stay in force.
  func policyBook() throws -> PolicyBook
  /// Returns a feed's order in a ranking that is kept.
  func order(ofFeed id: Int64, ranking: Int) throws -> OrderIndex
  /// Returns the first `count` entries of the feed's current ranking, with the total count.
  func top(of feed: FeedState, count: Int) throws -> OrderIndex
  /// Returns some entries of a feed's order in its current ranking. By an index, a store reads only the
  /// rows of the window, and counts those above it.
  func window(of feed: FeedState, at place: OrderWindow.Place, rows: Int) throws -> OrderWindow
  /// Returns what was committed after `old` and up to `new`, which is the reader's moment; `nil` if that is
  /// no longer known.
  func changes(from old: Mark, to new: Mark) throws -> StoreChanges?
  /// Returns the oldest ranking of the feed that is kept; `nil` if the feed does not exist.
  func oldestRanking(ofFeed id: Int64) throws -> Int?
  /// Returns the item's position in a ranking of the feed; `nil` if it is not in it.
  func position(ofItem id: String, inFeed feedID: Int64, ranking: Int) throws -> Position?
}

/// The changes that were committed to a store between two moments.
public struct StoreChanges: Sendable {
  /// Changes of orders; those of one position are in the order in which they happened.
  public var entries: [EntryChange] = []
  /// The posts whose content changed, or that were deleted.
  public var posts: Set<Int64> = []
  /// The feeds that were created or deleted, or whose name, title or ranking changed.
  public var feeds: Set<Int64> = []
  /// Whether networks or policies changed.
  public var areSettings = false

  /// Creates an empty set of changes.
  public init() {}

  var isNothing: Bool { entries.isEmpty && posts.isEmpty && feeds.isEmpty && !areSettings }
}

/// A catalog's access to its store, used by one caller at a time.
public protocol CatalogSource: Sendable {
  /// The type that reads the store at one moment.
  associatedtype Reader: CatalogReader
  /// Reads within one moment, which is never before that of an earlier read.
  ///
  /// - Throws: Errors of the store and of the body.
  mutating func read<Result>(_ body: (Reader) throws -> Result) throws -> Result
  /// Whether anything may have been committed since the last read. Called often, so it has to be cheap.
  ///
  /// - Throws: Errors of the store.
  mutating func mayHaveChanged() throws -> Bool
  /// Closes the source; nothing reads by it afterwards.
  mutating func close() throws
}

extension CatalogReader {
  /// Returns the window of the order; reads the whole order for it.
  public func window(
    of feed: FeedState, at place: OrderWindow.Place, rows: Int
  ) throws -> OrderWindow {
    OrderWindow(place, rows: rows, of: try order(ofFeed: feed.id, ranking: feed.ranking))
  }
}
