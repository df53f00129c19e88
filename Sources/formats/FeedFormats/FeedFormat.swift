import Feed
import PostJSON

/// What an input of posts is written in.
package enum FeedFormat: String, CaseIterable, Sendable {
  /// Our own records: NDJSON, or one JSON array.
  case records
  /// Rows of fields (RFC 4180), with a header.
  case csv
  /// JSON objects of any kind, of which `--map` says what is what: an array, NDJSON, or one behind the other.
  case json
  /// JSON Feed 1 and 1.1 (jsonfeed.org).
  case jsonFeed = "json-feed"
  /// RSS 2.0, and 0.91 and 0.92, of which it is made (rssboard.org).
  case rss
  /// Atom (RFC 4287).
  case atom
  /// Statuses as Mastodon's timelines have them, an array or NDJSON (docs.joinmastodon.org).
  case mastodon
  /// Listings as Reddit's API has them, or NDJSON of what is in them (reddit.com/dev/api).
  case reddit

  /// What people call it.
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

  /// What reads an input of this format from its beginning.
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

/// Reads an input: bytes in, as they come, and records out.
///
/// What it hands out is JSON of our own records, whatever the input was written in, so that there is one
/// way from there: the same limits, the same words for what is wrong.
package protocol RecordReader {
  /// Takes further bytes and hands out the records that they complete.
  mutating func feed(_ bytes: [UInt8], _ emit: (RawRecord) throws -> Void) rethrows
  /// Hands out what is left at the end of the input.
  mutating func finish(_ emit: (RawRecord) throws -> Void) rethrows
  /// What the input had so far that our records have no field for.
  var omissions: Omissions { get }
}

/// How inputs are read.
package struct FormatSettings: Sendable {
  /// A record, a row, an item of an XML document may have this many bytes.
  package var recordLimitBytes: Int
  /// A JSON document that is read as a whole may have this many bytes: a JSON Feed, a listing.
  package var documentLimitBytes: Int
  /// Which column of a CSV, or value of a JSON object, is what.
  package var columns: [ColumnMapping]
  /// The zone of times that name none.
  package var timeZone = LocalTimeZone.utc
  /// The feed of what is in none.
  package var feed: String?
  /// Whether a document's title is given to that feed.
  package var titlesFeed: Bool

  /// The default of `documentLimitBytes`.
  package static let defaultDocumentLimitBytes = 64 << 20

  /// These settings, limits above 0.
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

/// Why something of another format is no post.
struct FormatError: Error, CustomStringConvertible {
  /// A sentence without its end.
  let description: String

  init(_ description: String) { self.description = description }

  /// The time that a text says; nil where there is no text.
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

/// What a part of an input came to: records of ours, and what of it they have no field for.
struct Translation {
  let settings: FormatSettings
  private(set) var records: [RawRecord] = []
  var omissions = Omissions()
  /// Whether the title of the document was handed out.
  private var isTitled = false

  init(_ settings: FormatSettings) { self.settings = settings }

  /// A post, which its reader will find within the limits or not.
  mutating func add(_ post: Post, _ placements: [Placement] = [], line: Int) {
    let record = SeedRecord.post(post, placements: placements)
    records.append(RawRecord(line: line, content: .success(record.json)))
  }

  /// What no post can be made of.
  mutating func refuse(_ problem: String, line: Int) {
    records.append(RawRecord(line: line, problem: problem))
  }

  /// The title of the document: that of the feed, where one is named; the first one counts.
  mutating func title(_ title: String?, line: Int) {
    guard settings.titlesFeed, !isTitled, let title, let feed = settings.feed else { return }
    isTitled = true
    let record = SeedRecord.feed(name: feed, title: title)
    records.append(RawRecord(line: line, content: .success(record.json)))
  }

  /// Hands out what there is, and forgets it.
  mutating func flush(_ emit: (RawRecord) throws -> Void) rethrows {
    let records = records
    self.records.removeAll(keepingCapacity: true)
    for record in records { try emit(record) }
  }
}
