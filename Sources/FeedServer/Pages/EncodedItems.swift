import Feed
import JSON
import PostJSON
import Prefetch

/// Items as bytes: each one's JSON as far as it is the same for everybody, with what its hint and its
/// part of a plan rest on.
///
/// What differs by feed and network, the member `prefetch`, is the last and is written behind it.
struct EncodedItems: Sendable {
  /// One item.
  struct Item: Sendable {
    let type: PostType
    let hasPage: Bool
    /// Where its files lie in `media`.
    let media: Range<Int>
    /// Where its JSON lies, an object without its closing brace.
    let json: Range<Int>
    /// How long its id is as JSON, quotes among it; it is the first member's value.
    let idCount: Int

    /// Where the JSON of its id lies, without the closing quote.
    var openID: Range<Int> {
      let start = json.lowerBound + EncodedItems.idOffset
      return start..<(start + idCount - 1)
    }
  }

  /// `{"id":`
  fileprivate static let idOffset = 6

  var items: [Item] = []
  var media: [MediaLoad] = []
  var bytes: [UInt8]

  /// No items of these bytes yet.
  init(of bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// The items of these posts, in their order.
  init(_ posts: FlatPosts) {
    var writer = JSONWriter(capacity: 2 * posts.bytes.count + 256 * posts.count)
    var items: [Item] = []
    items.reserveCapacity(posts.count)
    for (index, post) in posts.posts.enumerated() {
      let start = writer.bytes.count
      var idEnd = start
      writer.beginDocument()
      writer.object { writer in
        writer.member("id", post.id, of: posts)
        idEnd = writer.bytes.count
        writer.member("type", post.type.rawValue)
        writer.mediaDetails(of: posts, at: index)
      }
      items.append(
        Item(
          type: post.type, hasPage: post.url != nil, media: post.media,
          json: start..<(writer.bytes.count - 1), idCount: idEnd - start - Self.idOffset))
    }
    self.items = items
    media = posts.mediaLoads
    bytes = writer.bytes
  }

  /// The items whose records were found, and the ones of `rest` where there are none, which come in the
  /// same order; posts without either are left out.
  init(_ found: ItemFile.Found, of posts: [Int64], rest: EncodedItems, of others: [Int64]) {
    self.init(of: found.bytes + rest.bytes)
    var next = 0
    for (post, record) in zip(posts, found.ranges) {
      if let record {
        appendItem(ofRecord: record)
      } else if next < others.count, others[next] == post {
        append(rest, at: next, bytesMovedBy: found.bytes.count)
        next += 1
      }
    }
  }

  /// The items whose records were found.
  init(_ found: ItemFile.Found) {
    self.init(of: found.bytes)
    items.reserveCapacity(found.ranges.count)
    media.reserveCapacity(found.ranges.count)
    for case let record? in found.ranges { appendItem(ofRecord: record) }
  }

  private mutating func append(_ other: EncodedItems, at index: Int, bytesMovedBy distance: Int) {
    let item = other.items[index]
    let start = media.count
    media.append(contentsOf: other.media[item.media])
    items.append(
      Item(
        type: item.type, hasPage: item.hasPage, media: start..<media.count,
        json: (item.json.lowerBound + distance)..<(item.json.upperBound + distance),
        idCount: item.idCount))
  }

  /// What the item at this index has to load.
  func load(at index: Int) -> ItemLoad {
    let item = items[index]
    return ItemLoad(type: item.type, hasPage: item.hasPage, media: media[item.media])
  }
}

extension JSONWriter {
  /// The details of a post, its files with the ids that they have in every page.
  mutating func mediaDetails(of posts: borrowing FlatPosts, at index: Int) {
    let id = posts.posts[index].id
    details(of: posts, at: index) { writer, ordinal in
      writer.key("id")
      writer.string { writer in
        writer.piece(utf8: posts.bytes.span.extracting(id.range))
        writer.piece(".\(ordinal)")
      }
    }
  }
}
