import Feed
import JSON
import Prefetch

/// Where in the writer's bytes an item lies, and what of it is needed again.
public struct ItemText: Sendable {
  /// The item, an object.
  public let json: Range<Int>
  /// Its id, without quotes.
  public let openID: Range<Int>
  /// How many bytes its last member has, the hint, with the comma before it.
  public let hintCount: Int
}

extension JSONWriter {
  /// The post at this index as an item, as pages and its own route show it.
  ///
  /// - Parameters:
  ///   - placements: the feeds that the item names: on its own those in which it is, on a page none. On its
  ///     own it says of its files' variants how far their bytes play, too.
  ///   - naming: where clients get its files; or the URLs of its record alone.
  @discardableResult
  public mutating func item(
    _ posts: borrowing FlatPosts, at index: Int, in placements: [Placement]? = nil,
    naming: MediaNames = .asRecorded, hint: Hint
  ) -> ItemText {
    let post = posts.posts[index]
    var id = 0..<0
    var end = 0
    var start = 0
    object { writer in
      start = writer.bytes.count - 1
      writer.member("id", post.id, of: posts)
      // Between the quotes.
      id = start + Self.openIDOffset..<writer.bytes.count - 1
      if let placements { writer.feeds(placements) }
      writer.member("type", plain: post.type.name)
      let openID: OpenID =
        id.count == post.id.range.count ? .plain(post.id) : .escaped(Array(writer.bytes[id]))
      writer.details(
        of: posts, at: index, openID: openID, naming: naming, entirely: placements != nil)
      end = writer.bytes.count
      writer.literal(capacity: OutputSpan<UInt8>.hintCapacity) { $0.append(hint: hint) }
    }
    return ItemText(json: start..<bytes.count, openID: id, hintCount: bytes.count - 1 - end)
  }

  /// `{"id":"`
  private static var openIDOffset: Int { 7 }
}

extension OutputSpan<UInt8> {
  /// What `append(hint:)` writes at the most.
  public static var hintCapacity: Int { 160 }

  /// The member `prefetch` of an item, behind other members.
  public mutating func append(hint: Hint) {
    append(#","prefetch":{"weight":"#)
    append(decimal: hint.weight)
    append(#","minimumBytes":"#)
    append(decimal: hint.minimumBytes)
    append(#","entireBytes":"#)
    append(decimal: hint.entireBytes)
    append(hint.isEstimated ? #","estimated":true}"# : "}")
  }
}
