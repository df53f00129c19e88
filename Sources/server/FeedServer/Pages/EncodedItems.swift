import Feed
import JSON
import PostJSON
import Prefetch

/// Items as bytes, one record behind the other, as in the item file: each item's JSON with a hint, and what
/// else a page needs of it.
///
/// A record is its head (`EncodedItem.Head`), its cost by the costs of its hint (`ItemCosts`), its files, for
/// readers with other costs (`MediaLoad`s), and then the JSON.
///
/// Only the process that wrote a record reads it: it has no version, and a record that ends too early is a
/// programming error.
struct EncodedItems: Sendable {
  private(set) var bytes: [UInt8] = []
  private(set) var count = 0

  /// No items.
  init() {}

  /// Creates items from `count` records.
  init(bytes: [UInt8], count: Int) {
    self.bytes = bytes
    self.count = count
  }

  /// The usual bytes of a record for a file with many known facts and a variant or two.
  private static let usualTruthBytes = 640

  /// Encodes the items of these posts, in their order: with the hints that the policy gives them on the
  /// network, at the width of files that the client gives, if any, and with these URLs of their files.
  init(
    _ posts: FlatPosts, hintsBy policy: Policy, on network: NetworkProfile,
    widthPixels: Int? = nil, links: MediaLinks = .asRecorded
  ) {
    let costs = PageCosts(policy, on: network, widthPixels: widthPixels)
    var writer = JSONWriter(capacity: 2 * posts.bytes.count + 256 * posts.count)
    bytes.reserveCapacity(
      2 * posts.bytes.count + 384 * posts.count + Self.usualTruthBytes * posts.truths.count)
    var itemCosts = ItemCosts()
    // Created once, to avoid a box for each item.
    let names = links.names
    for index in 0..<posts.count {
      let load = ItemLoad(posts, at: index)
      itemCosts.removeAll()
      itemCosts.append(load, by: costs.costs)
      writer.removeAll()
      let hint = costs.costs.hint(for: load, costing: itemCosts)
      let text = writer.item(posts, at: index, naming: names, hint: hint)
      append(text, writer.bytes.span, load, itemCosts, costs)
    }
  }
}

/// The position of an item in the bytes of `EncodedItems`, and the head of its record.
struct EncodedItem {
  /// The head of a record, in the machine's byte order.
  fileprivate struct Head: BitwiseCopyable {
    let hash: ContentHash
    let costs: ContentHash
    let jsonBytes: UInt32
    let costsBytes: UInt32
    let filesBytes: UInt32
    /// The size of the id, without quotes.
    let idBytes: UInt16
    let hintBytes: UInt8
    /// The item's type, and flags of what it has.
    let kind: UInt8
  }

  fileprivate let head: Head
  /// The start of its costs.
  fileprivate let costsStart: Int

  /// The range of its files.
  fileprivate var files: Range<Int> {
    let start = costsStart + Int(head.costsBytes)
    return start..<start + Int(head.filesBytes)
  }

  /// The hash of its JSON, including the hint.
  var hash: ContentHash { head.hash }

  /// The hash of the costs on which its hint is based.
  var costs: ContentHash { head.costs }

  /// The range of the item's JSON object.
  var json: Range<Int> { files.upperBound..<files.upperBound + Int(head.jsonBytes) }

  /// The range of its id, without quotes.
  var openID: Range<Int> {
    let start = files.upperBound + EncodedItems.idOffset
    return start..<start + Int(head.idBytes)
  }

  /// The start of its hint, at the comma before it; the hint ends before the closing brace.
  var hintStart: Int { json.upperBound - 1 - Int(head.hintBytes) }

  /// Whether its costs depend on the bandwidth.
  var dependsOnDownlink: Bool { head.kind & EncodedItems.dependsOnDownlinkFlag != 0 }
  /// Whether its files have variants.
  var hasVariants: Bool { head.kind & EncodedItems.hasVariantsFlag != 0 }

  /// The start of the next record.
  var end: Int { json.upperBound }
}

// MARK: Reading

extension EncodedItems {
  fileprivate static let headBytes = MemoryLayout<EncodedItem.Head>.size
  /// `{"id":"`
  fileprivate static let idOffset = 7

  fileprivate static let types = PostType.allCases
  fileprivate static let hasPageFlag: UInt8 = 0x80
  fileprivate static let dependsOnDownlinkFlag: UInt8 = 0x40
  fileprivate static let hasVariantsFlag: UInt8 = 0x20
  fileprivate static let typeMask: UInt8 = 0x1f

  /// The item whose record begins at `start`: 0 for the first, else the `end` of the one before.
  @inline(__always)
  func item(at start: Int) -> EncodedItem {
    // Any bytes are a valid head; the load checks the bounds.
    EncodedItem(
      head: bytes.span.bytes.unsafeLoadUnaligned(
        fromByteOffset: start, as: EncodedItem.Head.self),
      costsStart: start + Self.headBytes)
  }

  /// The files that the item loads.
  func load(of item: EncodedItem) -> ItemLoad {
    var media: [MediaLoad] = []
    var position = item.files.lowerBound
    while position < item.files.upperBound {
      media.append(MediaLoad(record: bytes.span.bytes, at: &position))
    }
    return ItemLoad(
      type: Self.types[Int(item.head.kind & Self.typeMask)],
      hasPage: item.head.kind & Self.hasPageFlag != 0, media: media[...])
  }

  /// Appends the item's costs, by which its hint was made.
  func append(costsOf item: EncodedItem, to costs: inout ItemCosts) {
    var position = item.costsStart
    // This process wrote the record: one that ends too early is a programming error, and the load checks the
    // bounds.
    func next<Value: BitwiseCopyable>() -> Value {
      defer { position += MemoryLayout<Value>.size }
      return bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: position, as: Value.self)
    }
    let cost = (next() as ItemCosts.Item).moved(toFile: costs.files.count)
    costs.items.append(cost)
    var pieceCount = costs.pieces.count
    for _ in cost.files {
      let file = (next() as ItemCosts.File).moved(toPiece: pieceCount)
      pieceCount = file.pieces.upperBound
      costs.files.append(file)
    }
    while costs.pieces.count < pieceCount { costs.pieces.append(next()) }
  }

  /// The ranges of the records.
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
  /// Appends the record of an item whose JSON is all that the writer has written, and whose costs are all of
  /// `costs`.
  private mutating func append(
    _ text: ItemText, _ json: Span<UInt8>, _ load: borrowing ItemLoad,
    _ costs: borrowing ItemCosts, _ by: PageCosts
  ) {
    let (dependsOnDownlink, hasVariants) = (load.dependsOnDownlink, load.hasVariants)
    let hash = by.hash(dependsOnDownlink: dependsOnDownlink, hasVariants: hasVariants)
    let costsBytes =
      MemoryLayout<ItemCosts.Item>.size + costs.files.count * MemoryLayout<ItemCosts.File>.size
      + costs.pieces.count * MemoryLayout<ItemCosts.Piece>.size
    // A span, because iterating over an array takes references, four an item.
    let files = load.media.span
    var filesBytes = 0
    for index in files.indices { filesBytes += files[index].recordBytes }
    let recordBytes = Self.headBytes + costsBytes + filesBytes + json.count
    bytes.append(addingCapacity: recordBytes) { record in
      record.append(
        number: EncodedItem.Head(
          hash: ContentHash(json), costs: hash, jsonBytes: UInt32(json.count),
          costsBytes: UInt32(costsBytes), filesBytes: UInt32(filesBytes),
          idBytes: UInt16(text.openID.count), hintBytes: UInt8(text.hintCount),
          kind: UInt8(Self.types.firstIndex(of: load.type) ?? 0)
            | (load.hasPage ? Self.hasPageFlag : 0)
            | (dependsOnDownlink ? Self.dependsOnDownlinkFlag : 0)
            | (hasVariants ? Self.hasVariantsFlag : 0)))
      record.append(number: costs.items[0])
      for index in costs.files.indices { record.append(number: costs.files[index]) }
      for index in costs.pieces.indices { record.append(number: costs.pieces[index]) }
      for index in files.indices { files[index].append(to: &record) }
      record.append(json)
    }
    count += 1
  }

  /// Appends a record of other items.
  mutating func append(_ record: Range<Int>, of others: EncodedItems) {
    bytes.append(contentsOf: others.bytes[record])
    count += 1
  }
}

extension OutputSpan<UInt8> {
  /// Appends a number of a record, in the machine's byte order.
  @inline(__always)
  mutating func append<Number: BitwiseCopyable>(number: Number) {
    withUnsafeMutableBufferPointer { buffer, count in
      let size = MemoryLayout<Number>.size
      precondition(size <= buffer.count - count, "more than the capacity")
      guard let start = buffer.baseAddress else { return }
      // The bytes behind the existing ones are within the capacity, which was just checked.
      UnsafeMutableRawPointer(start + count).storeBytes(of: number, as: Number.self)
      count += size
    }
  }
}

// MARK: Files of records

/// A file in the record of an item: flags 1 byte, its bytes 8, its milliseconds 8; if it is known how its
/// bytes play, its head 8, the numbers of leads and needed ranges 1 each, and those, 16 bytes each. Its curve
/// is only in the item's JSON: no hint depends on it. If there are variants, then its width 8 and their
/// number 1, and for each variant its width 8 and its file in the same form.
extension MediaLoad {
  fileprivate static let isVideoFlag: UInt8 = 1
  fileprivate static let hasBytesFlag: UInt8 = 2
  fileprivate static let hasDurationFlag: UInt8 = 4
  fileprivate static let hasTimingFlag: UInt8 = 8
  fileprivate static let isStartableFlag: UInt8 = 16
  fileprivate static let hasVariantsFlag: UInt8 = 32
  fileprivate static let isAudioFlag: UInt8 = 64

  /// The bytes of the fixed part of a file.
  static let leastRecordBytes = 17

  /// The number of bytes that `append(to:)` adds.
  var recordBytes: Int {
    let own =
      Self.leastRecordBytes
      + (withTiming { 10 + 16 * ($0.lead.count + $0.neededRanges.count) } ?? 0)
    guard hasVariants else { return own }
    return variants.reduce(own + 9) { $0 + 8 + $1.recordBytes }
  }

  func append(to record: inout OutputSpan<UInt8>) {
    var flags: UInt8 =
      switch kind {
      case .image: 0
      case .video: Self.isVideoFlag
      case .audio: Self.isAudioFlag
      }
    if bytes != nil { flags |= Self.hasBytesFlag }
    if durationMilliseconds != nil { flags |= Self.hasDurationFlag }
    flags |=
      withTiming { Self.hasTimingFlag | ($0.isStartable ? Self.isStartableFlag : 0) } ?? 0
    if hasVariants { flags |= Self.hasVariantsFlag }
    record.append(flags)
    record.append(number: Int64(bytes ?? 0))
    record.append(number: Int64(durationMilliseconds ?? 0))
    if flags & Self.hasTimingFlag != 0 { withTiming { append($0, to: &record) } }
    guard hasVariants else { return }
    record.append(number: Int64(width ?? 0))
    // Within `MediaVariant.limit`.
    record.append(UInt8(variants.count))
    for variant in variants {
      record.append(number: Int64(variant.width ?? 0))
      variant.append(to: &record)
    }
  }

  private func append(_ timing: MediaTiming, to record: inout OutputSpan<UInt8>) {
    record.append(number: Int64(timing.headBytes))
    // Both are within `MediaTiming.rowLimit`.
    record.append(UInt8(timing.lead.count))
    record.append(UInt8(timing.neededRanges.count))
    for lead in timing.lead {
      record.append(number: Int64(lead.kilobitsPerSecond))
      record.append(number: Int64(lead.bytes))
    }
    for range in timing.neededRanges {
      record.append(number: Int64(range.lowerBound))
      record.append(number: Int64(range.upperBound))
    }
  }
}

// MARK: Reading

extension MediaLoad {
  /// Reads the file that begins at `position` of a record, which this process wrote, and moves behind it: a
  /// record that ends too early is a programming error.
  ///
  /// - Parameter width: for a variant, the width in front of it.
  init(record: RawSpan, at position: inout Int, width: Int = 0) {
    let flags = record.unsafeLoad(fromByteOffset: position, as: UInt8.self)
    let kind: MediaKind =
      flags & Self.isVideoFlag != 0 ? .video : flags & Self.isAudioFlag != 0 ? .audio : .image
    let bytes = flags & Self.hasBytesFlag == 0 ? nil : Self.number(record, position + 1)
    let duration = flags & Self.hasDurationFlag == 0 ? nil : Self.number(record, position + 9)
    position += Self.leastRecordBytes
    let timing =
      flags & Self.hasTimingFlag == 0
      ? nil
      : Self.timing(record, at: &position, isStartable: flags & Self.isStartableFlag != 0)
    var (width, variants) = (width, [MediaLoad]())
    if flags & Self.hasVariantsFlag != 0 {
      width = Self.number(record, position)
      let count = record.unsafeLoad(fromByteOffset: position + 8, as: UInt8.self)
      position += 9
      variants.reserveCapacity(Int(count))
      for _ in 0..<count {
        let width = Self.number(record, position)
        position += 8
        variants.append(MediaLoad(record: record, at: &position, width: width))
      }
    }
    self.init(
      kind: kind, bytes: bytes, durationMilliseconds: duration, timing: timing,
      width: width == 0 ? nil : width, variants: variants)
  }

  private static func timing(
    _ record: RawSpan, at position: inout Int, isStartable: Bool
  ) -> MediaTiming {
    var timing = MediaTiming(
      isStartable: isStartable, headBytes: number(record, position))
    let leads = record.unsafeLoad(fromByteOffset: position + 8, as: UInt8.self)
    let ranges = record.unsafeLoad(fromByteOffset: position + 9, as: UInt8.self)
    position += 10
    timing.lead = (0..<leads).map { _ in
      defer { position += 16 }
      return .init(
        kilobitsPerSecond: number(record, position), bytes: number(record, position + 8))
    }
    timing.neededRanges = (0..<ranges).map { _ in
      defer { position += 16 }
      return number(record, position)..<number(record, position + 8)
    }
    return timing
  }

  private static func number(_ record: RawSpan, _ offset: Int) -> Int {
    Int(record.unsafeLoadUnaligned(fromByteOffset: offset, as: Int64.self))
  }
}
