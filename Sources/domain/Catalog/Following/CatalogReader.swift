import Feed
import Prefetch

/// What of a store had been committed at a moment.
public protocol CatalogMark: Equatable, Sendable {
  /// When a post was to come or go next; `nil` where none was.
  var nextDue: Timestamp? { get }
}

/// What a store holds at one moment, as far as catalogs are made of it.
public protocol CatalogReader {
  /// What of the store had been committed at a moment, in the store's own terms: a pair of numbers, a
  /// snapshot's transactions. Equal ones say that nothing was committed between them; nothing else is made
  /// of it than the question what changed since, which the store answers.
  associatedtype Mark: CatalogMark
  /// The reader's moment.
  func mark() throws -> Mark
  /// Every feed, in any order.
  func feeds() throws -> [FeedState]
  /// The feed that has this number; `nil` if it does not exist.
  func feed(_ id: Int64) throws -> FeedState?
  /// The profiles and policies that are written.
  ///
  /// - Throws: `PolicyError` for one that is not understood; then those of before stay in force.
  func policyBook() throws -> PolicyBook
  /// A feed's order in a ranking that is kept.
  func order(ofFeed id: Int64, ranking: Int) throws -> OrderIndex
  /// The first `count` entries of the feed's current ranking, and how many there are in all.
  func top(of feed: FeedState, count: Int) throws -> OrderIndex
  /// A few entries of a feed's order in its current ranking. A store reads by an index no more rows than the
  /// window has, beside counting those above it.
  func window(of feed: FeedState, at place: OrderWindow.Place, rows: Int) throws -> OrderWindow
  /// What was committed after the one moment and up to the other, which is the reader's; `nil` where
  /// that is no longer known.
  func changes(from old: Mark, to new: Mark) throws -> StoreChanges?
  /// The first ranking of the feed that is kept; `nil` where there is no such feed.
  func oldestRanking(ofFeed id: Int64) throws -> Int?
  /// Where the item stands in a ranking of the feed; `nil` where it is not in it.
  func position(ofItem id: String, inFeed feedID: Int64, ranking: Int) throws -> Position?
}

/// What was committed to a store between two moments.
public struct StoreChanges: Sendable {
  /// What happened to orders: of one position, in the order in which it happened.
  public var entries: [EntryChange] = []
  /// The posts whose content changed, or that are gone.
  public var posts: Set<Int64> = []
  /// The feeds that came, went, or have another name, title or ranking.
  public var feeds: Set<Int64> = []
  /// Networks or policies changed.
  public var areSettings = false

  /// Nothing yet.
  public init() {}

  var isNothing: Bool { entries.isEmpty && posts.isEmpty && feeds.isEmpty && !areSettings }
}

/// By what a catalog follows its store: one reads by it at a time.
public protocol CatalogSource: Sendable {
  /// What reads the store at one moment.
  associatedtype Reader: CatalogReader
  /// Reads within one moment, which is not before any that was read by this before.
  ///
  /// - Throws: what the store says of itself, what the body throws.
  mutating func read<Result>(_ body: (Reader) throws -> Result) throws -> Result
  /// Whether anything may have been committed since the last read: a cheap look, often.
  ///
  /// - Throws: what the store says of itself.
  mutating func mayHaveChanged() throws -> Bool
  /// Nothing is read by this any more.
  mutating func close() throws
}

extension CatalogReader {
  /// The window of the order, which is read whole for it.
  public func window(
    of feed: FeedState, at place: OrderWindow.Place, rows: Int
  ) throws -> OrderWindow {
    OrderWindow(place, rows: rows, of: try order(ofFeed: feed.id, ranking: feed.ranking))
  }
}
