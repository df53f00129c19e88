import Feed
import JSON
import PostJSON
import Prefetch

/// Items as bytes, one record behind the other, as they lie in the item file: each one's JSON with a hint,
/// and what else of it a page needs.
///
/// A record, its numbers in the machine's order:
///
///   0  the hash of the JSON                          16
///   16 the hash of the costs that the hint is by     16
///   32 how many bytes the JSON has                    4
///   36 how many files the item has                    4
///   40 how many bytes its id has, without quotes      2
///   42 how many bytes the hint has                    1
///   43 its type, and whether it has a page            1
///   44 each file: what is known of it 1, its bytes 8, its milliseconds 8
///      the JSON
///
/// Only the process that wrote a record reads it: it has no version, and that it ends too early is a
/// mistake of this program.
struct EncodedItems: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0

  /// No items.
  init() {}

  /// So many records.
  init(bytes: [UInt8], count: Int) {
    self.bytes = bytes
    self.count = count
  }

  /// The items of these posts, in their order, with hints by these costs: those of the policy.
  init(_ posts: FlatPosts, hintsBy policy: Policy) {
    let costs = policy.costsHash
    var writer = JSONWriter(capacity: 2 * posts.bytes.count + 256 * posts.count)
    bytes.reserveCapacity(2 * posts.bytes.count + 320 * posts.count)
    for index in 0..<posts.count {
      let load = ItemLoad(posts, at: index)
      writer.removeAll()
      let text = writer.item(posts, at: index, hint: policy.hint(for: load))
      append(text, writer.bytes, load, costs)
    }
  }
}

/// Where an item lies in the bytes of `EncodedItems`, and what stands at its head.
struct EncodedItem {
  /// The hash of its JSON, hint and all.
  let hash: ContentHash
  /// The hash of the costs that its hint is by.
  let costs: ContentHash
  /// The item, an object.
  let json: Range<Int>
  /// Its id, without quotes.
  let openID: Range<Int>
  /// Where its hint begins, with the comma before it: from there to the closing brace.
  let hintStart: Int
  fileprivate let kind: UInt8
  /// Where its files lie, seventeen bytes each.
  fileprivate let files: Range<Int>

  /// Where the next record begins.
  var end: Int { json.upperBound }
}

// MARK: Reading

extension EncodedItems {
  fileprivate static let headBytes = 44
  fileprivate static let fileBytes = 17
  /// `{"id":"`
  fileprivate static let idOffset = 7

  fileprivate static let types = PostType.allCases
  fileprivate static let hasPageFlag: UInt8 = 0x80
  fileprivate static let isVideoFlag: UInt8 = 1
  fileprivate static let hasBytesFlag: UInt8 = 2
  fileprivate static let hasDurationFlag: UInt8 = 4

  /// The item whose record begins there: the first at 0, each other at the `end` of the one before.
  @inline(__always)
  func item(at start: Int) -> EncodedItem {
    let filesStart = start + Self.headBytes
    let filesEnd = filesStart + Self.fileBytes * Int(number(at: start + 36, UInt32.self))
    let end = filesEnd + Int(number(at: start + 32, UInt32.self))
    let idStart = filesEnd + Self.idOffset
    return EncodedItem(
      hash: number(at: start, ContentHash.self), costs: number(at: start + 16, ContentHash.self),
      json: filesEnd..<end, openID: idStart..<idStart + Int(number(at: start + 40, UInt16.self)),
      hintStart: end - 1 - Int(bytes[start + 42]), kind: bytes[start + 43],
      files: filesStart..<filesEnd)
  }

  /// A number of a record. Any bytes are one; that they are there is looked at.
  @inline(__always)
  private func number<Number: BitwiseCopyable>(at offset: Int, _: Number.Type) -> Number {
    bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
  }

  /// What the item has to load.
  func load(of item: EncodedItem) -> ItemLoad {
    loads(of: [item])[0]
  }

  /// What the items have to load.
  func loads(of items: [EncodedItem]) -> [ItemLoad] {
    var media: [MediaLoad] = []
    media.reserveCapacity(items.reduce(0) { $0 + $1.files.count } / Self.fileBytes)
    for item in items {
      for file in stride(from: item.files.lowerBound, to: item.files.upperBound, by: Self.fileBytes)
      {
        let flags = bytes[file]
        media.append(
          MediaLoad(
            kind: flags & Self.isVideoFlag == 0 ? .image : .video,
            bytes: flags & Self.hasBytesFlag == 0
              ? nil : Int(number(at: file + 1, Int64.self)),
            durationMilliseconds: flags & Self.hasDurationFlag == 0
              ? nil : Int(number(at: file + 9, Int64.self))))
      }
    }
    var end = 0
    return items.map { item in
      let start = end
      end += item.files.count / Self.fileBytes
      return ItemLoad(
        type: Self.types[Int(item.kind & ~Self.hasPageFlag)],
        hasPage: item.kind & Self.hasPageFlag != 0, media: media[start..<end])
    }
  }

  /// Where the records begin and end.
  var records: [Range<Int>] {
    var records: [Range<Int>] = []
    records.reserveCapacity(count)
    var start = 0
    for _ in 0..<count {
      let end = item(at: start).end
      records.append(start..<end)
      start = end
    }
    return records
  }
}

// MARK: Writing

extension EncodedItems {
  /// Appends the record of an item which is all that the writer has written.
  private mutating func append(
    _ text: ItemText, _ json: [UInt8], _ load: ItemLoad, _ costs: ContentHash
  ) {
    append(number: ContentHash(json.span))
    append(number: costs)
    append(number: UInt32(json.count))
    append(number: UInt32(load.media.count))
    append(number: UInt16(text.openID.count))
    append(number: UInt8(text.hintCount))
    let type = UInt8(Self.types.firstIndex(of: load.type) ?? 0)
    append(number: load.hasPage ? type | Self.hasPageFlag : type)
    for file in load.media {
      append(
        number: (file.kind == .video ? Self.isVideoFlag : 0)
          | (file.bytes == nil ? 0 : Self.hasBytesFlag)
          | (file.durationMilliseconds == nil ? 0 : Self.hasDurationFlag))
      append(number: Int64(file.bytes ?? 0))
      append(number: Int64(file.durationMilliseconds ?? 0))
    }
    bytes.append(contentsOf: json)
    count += 1
  }

  private mutating func append(number: some BitwiseCopyable) {
    Swift.withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
  }

  /// Appends a record of others.
  mutating func append(_ record: Range<Int>, of others: EncodedItems) {
    bytes.append(contentsOf: others.bytes[record])
    count += 1
  }
}

extension Policy {
  /// What an item's record says of the costs that its hint is by.
  var costsHash: ContentHash {
    Swift.withUnsafeBytes(of: costs) { ContentHash($0) }
  }
}
