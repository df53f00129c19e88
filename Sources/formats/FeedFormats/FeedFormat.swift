import Feed
import PostJSON

/// A format of an input of posts.
package enum FeedFormat: String, CaseIterable, Sendable {
  /// The project's own records: NDJSON, or one JSON array.
  case records
  /// Rows of fields (RFC 4180), with a header.
  case csv
  /// JSON objects of any kind, whose fields `--map` names: an array, NDJSON, or concatenated objects.
  case json
  /// JSON Feed 1 and 1.1 (jsonfeed.org).
  case jsonFeed = "json-feed"
  /// RSS 2.0 and its predecessors 0.91 and 0.92 (rssboard.org).
  case rss
  /// Atom (RFC 4287).
  case atom
  /// Statuses of Mastodon's timelines, as an array or NDJSON (docs.joinmastodon.org).
  case mastodon
  /// Listings of Reddit's API, or NDJSON of their elements (reddit.com/dev/api).
  case reddit

  /// The format's name in messages.
  package var title: String {
    switch self {
    case .records: "records"
    case .csv: "CSV"
    case .json: "JSON"
    case .jsonFeed: "a JSON Feed"
    case .rss: "RSS"
    case .atom: "Atom"
    case .mastodon: "a Mastodon timeline"
    case .reddit: "a Reddit listing"
    }
  }

  /// Returns a reader of an input of this format, at its beginning.
  package func reader(_ settings: FormatSettings) -> any RecordReader {
    switch self {
    case .records: RecordSplitter(recordLimitBytes: settings.recordLimitBytes)
    case .csv: CSVReader(settings)
    case .json: JSONReader(settings, JSONMapping(settings.columns).translate)
    case .jsonFeed: JSONReader(settings, JSONFeed.translate)
    case .rss, .atom: XMLFeedReader(self, settings)
    case .mastodon: JSONReader(settings, MastodonStatus.translate)
    case .reddit: JSONReader(settings, RedditListing.translate)
    }
  }
}

/// Reads an input incrementally: takes bytes and returns records.
///
/// The records are JSON in the project's own form, whatever the format of the input, so that all formats
/// share one decoder with the same limits and error messages.
package protocol RecordReader {
  /// Takes further bytes and passes each record that they complete to `emit`.
  mutating func feed(_ bytes: [UInt8], _ emit: (RawRecord) throws -> Void) rethrows
  /// Passes the remaining record to `emit` at the end of the input.
  mutating func finish(_ emit: (RawRecord) throws -> Void) rethrows
  /// The parts of the input so far for which records have no field.
  var omissions: Omissions { get }
}

/// Settings of the readers.
package struct FormatSettings: Sendable {
  /// The maximum size of a record, a row, or an item of an XML document.
  package var recordLimitBytes: Int
  /// The maximum size of a JSON document that is read as a whole: a JSON Feed, a listing.
  package var documentLimitBytes: Int
  /// The mapping of columns of a CSV, or values of a JSON object, to fields.
  package var columns: [ColumnMapping]
  /// The time zone of times without one.
  package var timeZone = LocalTimeZone.utc
  /// The feed of posts that name none.
  package var feed: String?
  /// Whether a document's title becomes the title of that feed.
  package var titlesFeed: Bool

  /// The default of `documentLimitBytes`.
  package static let defaultDocumentLimitBytes = 64 << 20

  /// Creates settings; both limits are above 0.
  package init(
    recordLimitBytes: Int, documentLimitBytes: Int = FormatSettings.defaultDocumentLimitBytes,
    columns: [ColumnMapping] = [], feed: String? = nil, titlesFeed: Bool = true
  ) {
    self.recordLimitBytes = recordLimitBytes
    self.documentLimitBytes = documentLimitBytes
    self.columns = columns
    self.feed = feed
    self.titlesFeed = titlesFeed
  }
}

/// The reason why a part of an input cannot become a post.
struct FormatError: Error, CustomStringConvertible {
  /// A sentence without a full stop.
  let description: String

  init(_ description: String) { self.description = description }

  /// Parses a time; returns nil if there is no text.
  static func time(
    _ text: String?, _ field: String, _ zone: LocalTimeZone
  ) throws(FormatError) -> Timestamp? {
    guard let text else { return nil }
    guard let time = FeedDate.time(text, zone) else {
      throw FormatError(
        "\(field): \"\(text.prefix(60))\" is not a time such as 2012-07-28T23:05:56Z, "
          + "2012-07-28 23:05:56, Sat, 28 Jul 2012 23:05:56 GMT or 1343516756")
    }
    return time
  }
}

/// The result of reading a part of an input: records, and counts of what records have no field for.
struct Translation {
  let settings: FormatSettings
  private(set) var records: [RawRecord] = []
  var omissions = Omissions()
  /// Whether the document's title has been emitted.
  private var isTitled = false

  init(_ settings: FormatSettings) { self.settings = settings }

  /// Adds a post. The decoder of records checks its limits.
  mutating func add(_ post: Post, _ placements: [Placement] = [], line: Int) {
    let record = SeedRecord.post(post, placements: placements)
    records.append(RawRecord(line: line, content: .success(record.json)))
  }

  /// Adds the error of a part that cannot become a post.
  mutating func refuse(_ problem: String, line: Int) {
    records.append(RawRecord(line: line, problem: problem))
  }

  /// Adds a record that gives the feed of the settings, if there is one, the document's title.
  /// Only the first title counts.
  mutating func title(_ title: String?, line: Int) {
    guard settings.titlesFeed, !isTitled, let title, let feed = settings.feed else { return }
    isTitled = true
    let record = SeedRecord.feed(name: feed, title: title)
    records.append(RawRecord(line: line, content: .success(record.json)))
  }

  /// Emits the collected records and removes them.
  mutating func flush(_ emit: (RawRecord) throws -> Void) rethrows {
    let records = records
    self.records.removeAll(keepingCapacity: true)
    for record in records { try emit(record) }
  }
}
