import Feed
import PostJSON

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
