import Catalog
import Feed
import HTTP
import HTTPServer

// How a page lies in a file: how long each part is, then the parts.
//
//   1 if the compact route answered, else 0   1 byte
//   how many bytes, or posts, each part has   4 for each
//   the request's text, the tag without quotes, the head, the head of 304, the feed's name, the numbers of
//   the posts (8 each), the body

extension ReadyPage {
  /// The page as a request of this text finds it again.
  func record(for text: RequestText) -> [UInt8] {
    let parts = [
      text.bytes, Array(variant.tag.opaque.utf8), variant.whole.preparedHead ?? [],
      variant.notModified.preparedHead ?? [], Array(feed.utf8),
    ]
    var record: [UInt8] = []
    record.reserveCapacity(variant.whole.bodyLength + 8 * posts.count + 4096)
    record.append(variant.whole.route == Route.compactPage.path ? 1 : 0)
    for part in parts { record.append(littleEndian: UInt32(part.count)) }
    record.append(littleEndian: UInt32(posts.count))
    record.append(littleEndian: UInt32(variant.whole.bodyLength))
    for part in parts { record += part }
    for post in posts { record.append(littleEndian: post) }
    for case .bytes(let bytes) in variant.whole.body { record += bytes }
    return record
  }

  /// The page of a record, which is given without the body; nil if that is one for requests of another
  /// text.
  convenience init?(
    record: [UInt8], body: Response.Part, for text: RequestText, asOf version: StoreVersion
  ) {
    let parts = record.withUnsafeBytes { bytes in
      var reader = RecordReader(bytes)
      let isCompact = reader.number(UInt8.self) == 1
      let counts = (0..<7).map { _ in Int(reader.number(UInt32.self)) }
      let ranges = counts[..<5].map { reader.take($0) }
      let posts = (0..<counts[5]).map { _ in reader.number(Int64.self) }
      return (isCompact, ranges, posts)
    }
    let (isCompact, ranges, posts) = parts
    guard record[ranges[0]].elementsEqual(text.bytes) else { return nil }
    let route = isCompact ? Route.compactPage.path : Route.page.path
    let variant = Variant(
      tag: EntityTag(String(decoding: record[ranges[1]], as: UTF8.self)),
      whole: Response(
        .ok, preparedHead: Array(record[ranges[2]]), body: [body], route: route),
      notModified: Response(
        .notModified, preparedHead: Array(record[ranges[3]]), body: [], route: route))
    self.init(
      variant, feed: String(decoding: record[ranges[4]], as: UTF8.self), posts: posts,
      asOf: version)
  }
}
