import ArgumentParser
import Catalog
import Feed
import FeedFormats
import Foundation
import JSON
import Lab
import PostJSON
import Prefetch
import PrefetchClient
import RowStore

/// The feed to scroll: a feed of a database, a recording, or a generated feed.
struct LabFeedOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Recorded feed: a file with a page of the server, or with posts in any format that seed \
      reads; may be repeated, the order counts. Without it and --feed, the feed is generated.
      """, valueName: "file"))
  var input: [String] = []

  @Option(
    help: ArgumentHelp(
      "Feed of the database, with the known facts about its files.", valueName: "name"))
  var feed: String?

  @Flag(
    help: ArgumentHelp(
      """
      Generate a feed of clips in chunks of a second with bitrates of 1850, 1200 and 750 kbit/s, \
      seven per page, over one connection with one transfer at a time, each clip with a watch \
      curve of its own.
      """))
  var bitrates = false

  @OptionGroup var database: DatabaseOptions

  mutating func validate() throws {
    guard !bitrates || input.isEmpty && feed == nil else {
      throw ValidationError("--bitrates generates a feed: it excludes --input and --feed")
    }
    guard input.isEmpty || feed == nil else {
      throw ValidationError("--input and --feed exclude each other")
    }
  }

  /// The feed to scroll, with its recorded viewer if there is one.
  struct Source {
    var feed: Experiment.FeedSource
    /// A description of the feed.
    var words: String
    /// The looks of the viewer in a recorded session.
    var looks: [ViewerModel.Look] = []
    /// The number of its items with learned watch times.
    var learnedItems = 0
  }

  /// Reads or generates the feed.
  func source(seed: Int) throws -> Source {
    if bitrates {
      return Source(
        feed: .generated(.challenge), words: "clips in three bitrates, generated for each repeat"
      )
    }
    if input.isEmpty, feed == nil {
      return Source(feed: .generated(FeedModel()), words: "generated for each repeat")
    }
    let name = feed.map { "feed \($0)" } ?? input.joined(separator: ", ")
    var (items, looks): ([PrefetchItem], [(item: String, dwellMilliseconds: Int)]) = ([], [])
    if let feed { items = try itemsOfDatabase(feed) }
    for path in input {
      let content = try LabOptions.content(path)
      if Self.isSession(content) {
        let session = try Self.session(content, path)
        looks += session.looks.compactMap { look in
          look.dwellMilliseconds.map { (look.item, $0) }
        }
        items += session.items
      } else {
        items += try Self.items(content, path)
      }
    }
    do throws(RecordedFeedError) {
      let recorded = try RecordedFeed(items, random: LabRandom(seed: UInt64(seed)))
      return Source(
        feed: .recorded(recorded.feed, turns: looks.isEmpty), words: "\(name): \(recorded.words)",
        looks: recorded.looks(looks),
        learnedItems: recorded.feed.items.count { !$0.survival.isEmpty })
    } catch {
      throw LabInputError(file: name, words: "\(error)")
    }
  }

  // MARK: The database

  /// Opens the database; the caller closes it.
  func store() throws -> any DatabaseStore { try database.openExisting() }

  private func itemsOfDatabase(_ name: String) throws -> [PrefetchItem] {
    let store = try store()
    defer { try? store.close() }
    try store.refresh()
    var items: [PrefetchItem] = []
    while items.count < RecordedFeed.itemLimit {
      let cut = try store.cut(
        PageQuery(feed: name, offset: items.count, limit: Self.portion))
      let posts = try store.posts(cut.posts)
      guard posts.posts.count > 0 else { break }
      items += posts.posts.indices.map { index in
        let post = posts.posts[index]
        var item = PrefetchItem(id: posts.string(post.id), load: ItemLoad(posts, at: index))
        item.survival = post.survival.map { [WatchPoint](json: posts.string($0)) } ?? []
        return item
      }
    }
    return items
  }

  private static let portion = 1_000

  // MARK: Files

  /// Whether the file is the output of `browse --record`: its first line is an engine's state.
  private static func isSession(_ content: [UInt8]) -> Bool {
    guard let end = content.firstIndex(of: UInt8(ascii: "\n")),
      let state = try? JSONDocument(Array(content[..<end])).root
    else { return false }
    return state.member("settings") != nil && state.member("strategy") != nil
  }

  private static func session(_ content: [UInt8], _ path: String) throws -> SessionLog {
    do throws(SessionLogError) {
      return try SessionLog(content)
    } catch {
      throw LabInputError(file: path, words: "\(error)")
    }
  }

  private static func items(_ content: [UInt8], _ path: String) throws -> [PrefetchItem] {
    if let document = try? JSONDocument(content), document.root.member("paging") != nil {
      do throws(RecordError) {
        return try FeedPage(json: content).items.map { PrefetchItem($0) { $0 } }
      } catch {
        throw LabInputError(file: path, words: "\(error)")
      }
    }
    return try records(content, path)
  }

  /// The records that `seed` would load, in the file's order.
  private static func records(_ content: [UInt8], _ path: String) throws -> [PrefetchItem] {
    let format: FeedFormat
    do throws(FormatProblem) {
      format = try FeedFormat.guess(Array(content.prefix(FeedFormat.tellingBytes)))
    } catch {
      throw LabInputError(file: path, words: error.description)
    }
    var reader = format.reader(FormatSettings(recordLimitBytes: recordBytes))
    let decoder = RecordDecoder()
    var items: [PrefetchItem] = []
    func take(_ record: RawRecord) throws {
      do {
        let decoded = try decoder.decode(record.content.get())
        guard case .post(let post, _) = decoded else { return }
        items.append(PrefetchItem(id: post.id, load: ItemLoad(post)))
      } catch {
        throw LabInputError(file: "\(path):\(record.line)", words: "\(error)")
      }
    }
    try reader.feed(content, take)
    try reader.finish(take)
    return items
  }

  private static let recordBytes = 1 << 20
}

extension SessionLog {
  /// The items of its pages, from the top of the list.
  fileprivate var items: [PrefetchItem] {
    var items: [PrefetchItem] = []
    for event in events {
      guard case .pageArrived(let place, let page, _, _) = event.event else { continue }
      if case .above = place { items = page + items } else { items += page }
    }
    return items
  }
}
