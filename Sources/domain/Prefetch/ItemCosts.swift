import Feed

/// The costs of a page's items, in order: what a plan needs of them, as numbers only, so that planning a page
/// takes no references.
public struct ItemCosts: Sendable {
  /// The cost of an item.
  public struct Item: Sendable, BitwiseCopyable {
    /// The amount that the item counts towards `Policy.maxCost` if it has anything to load.
    fileprivate let weight: Int
    /// The number of bytes of the item's own page, of a web app or an ad without files; 0 if no such page is
    /// loaded.
    fileprivate let pageBytes: Int
    fileprivate let filesStart: UInt32
    fileprivate let fileCount: UInt32
    /// The number of its files that are visible before it is active.
    fileprivate let seenCount: UInt32

    /// The indices of its files in `ItemCosts.files`.
    public var files: Range<Int> { Int(filesStart)..<Int(filesStart) + Int(fileCount) }

    /// The same item, with files that begin at `start`.
    public func moved(toFile start: Int) -> Item {
      Item(
        weight: weight, pageBytes: pageBytes, filesStart: UInt32(start), fileCount: fileCount,
        seenCount: seenCount)
    }
  }

  /// The cost of one of an item's files: of the file and its variants, the one that is loaded.
  public struct File: Sendable, BitwiseCopyable {
    fileprivate let minimumBytes: Int
    fileprivate let entireBytes: Int
    fileprivate let piecesStart: UInt32
    fileprivate let pieceCount: UInt32
    /// The variant's index; −1 for the file itself.
    fileprivate let variant: Int32
    fileprivate let flags: UInt8

    fileprivate static let playsFlag: UInt8 = 1
    fileprivate static let isSizeKnownFlag: UInt8 = 2
    fileprivate static let isDivisibleFlag: UInt8 = 4
    fileprivate static let isStartEstimatedFlag: UInt8 = 8
    fileprivate static let isEntireEstimatedFlag: UInt8 = 16

    /// The indices in `ItemCosts.pieces` of the pieces that start the file; empty if its first bytes start
    /// it.
    public var pieces: Range<Int> { Int(piecesStart)..<Int(piecesStart) + Int(pieceCount) }

    /// The same file, with pieces that begin at `start`.
    public func moved(toPiece start: Int) -> File {
      File(
        minimumBytes: minimumBytes, entireBytes: entireBytes, piecesStart: UInt32(start),
        pieceCount: pieceCount, variant: variant, flags: flags)
    }

    fileprivate func isSet(_ flag: UInt8) -> Bool { flags & flag != 0 }
  }

  /// A range of a file's bytes. Those in `pieces` are not empty.
  public struct Piece: Sendable, BitwiseCopyable {
    fileprivate let start: Int
    fileprivate let end: Int
  }

  /// The items.
  public var items: [Item] = []
  /// The items' files.
  public var files: [File] = []
  /// The pieces of those files that do not start with their first bytes.
  public var pieces: [Piece] = []

  /// Creates costs without items, with room for this many items of one file each.
  public init(reserving count: Int = 0) {
    guard count > 0 else { return }
    items.reserveCapacity(count)
    files.reserveCapacity(count)
  }

  /// Removes all items and keeps the memory.
  public mutating func removeAll() {
    // Usually there is one item with one file, for which `removeAll(keepingCapacity:)` costs more.
    while items.popLast() != nil {}
    while files.popLast() != nil {}
    while pieces.popLast() != nil {}
  }

  /// Appends the cost of the item.
  public mutating func append(_ item: ItemLoad, by costs: HintCosts) {
    let hasPage = item.media.isEmpty && (item.type == .webapp || item.type == .ad) && item.hasPage
    items.append(
      Item(
        weight: costs.weight(of: item), pageBytes: hasPage ? max(0, costs.webappBytes) : 0,
        filesStart: UInt32(files.count), fileCount: UInt32(item.media.count),
        seenCount: UInt32(costs.visibleParts(of: item))))
    // A span does not copy the files.
    let media = item.media.span
    for index in media.indices {
      // Usually there is nothing to choose.
      if costs.choosesVariants, media[index].hasVariants {
        let choice = costs.choice(of: media[index])
        append(choice.file, variant: choice.index, by: costs)
      } else {
        append(media[index], variant: nil, by: costs)
      }
    }
  }

  /// Appends the cost of a file.
  ///
  /// - Parameter variant: the index of the file's variant; `nil` for the file itself.
  private mutating func append(_ file: MediaLoad, variant: Int?, by costs: HintCosts) {
    let cost = costs.cost(ofFile: file)
    let plays = file.kind.plays
    var flags: UInt8 = plays ? File.playsFlag : 0
    if file.bytes != nil { flags |= File.isSizeKnownFlag }
    // A part of a file that plays from its start is useful. If the head does not start the file, a part of
    // its pieces is useless.
    if plays, file.withTiming({ $0.isStartable }) != false { flags |= File.isDivisibleFlag }
    if cost.isStartEstimated { flags |= File.isStartEstimatedFlag }
    if cost.isEntireEstimated { flags |= File.isEntireEstimatedFlag }
    files.append(
      File(
        minimumBytes: cost.minimumBytes, entireBytes: cost.entireBytes,
        piecesStart: UInt32(pieces.count), pieceCount: UInt32(cost.pieces.count),
        variant: variant.map(Int32.init) ?? -1, flags: flags))
    for piece in cost.pieces {
      pieces.append(Piece(start: piece.lowerBound, end: piece.upperBound))
    }
  }
}

extension ItemCosts {
  /// The hint of the first item, which must have files.
  var hint: Hint {
    var (minimumBytes, entireBytes, isEstimated) = (0, 0, false)
    for (index, file) in files[items[0].files].enumerated() {
      if index < Int(items[0].seenCount) { minimumBytes += file.minimumBytes }
      entireBytes += file.entireBytes
      isEstimated =
        isEstimated || file.isSet(File.isStartEstimatedFlag | File.isEntireEstimatedFlag)
    }
    return Hint(
      weight: items[0].weight, minimumBytes: minimumBytes, entireBytes: entireBytes,
      isEstimated: isEstimated)
  }

  /// The amount that an item counts towards `maxCost`: 0 if it has nothing to load.
  func weight(toLoad index: Int) -> Int {
    let item = items[index]
    let isLoaded =
      item.fileCount == 0
      ? item.pageBytes > 0
      : files[item.files].prefix(Int(item.seenCount)).contains { $0.minimumBytes > 0 }
    return isLoaded ? item.weight : 0
  }

  /// Appends the parts of an item, in order, as far as the budget reaches, and subtracts their bytes from it.
  ///
  /// - Returns: `false` if the budget ends before the last part.
  func append(
    to parts: inout [PagePlan.Part], item itemIndex: Int, budget: inout Int
  ) -> Bool {
    let item = items[itemIndex]
    let isActive = itemIndex == 0
    guard item.fileCount > 0 else {
      guard item.pageBytes > 0 else { return true }
      let part = PagePlan.Part(
        itemIndex: itemIndex, mediaIndex: nil, variantIndex: nil, range: nil,
        bytes: item.pageBytes, reason: isActive ? .active : .whole, isEstimated: true)
      return append(part, to: &parts, needed: part.bytes, least: nil, budget: &budget)
    }
    let seen = isActive ? Int(item.fileCount) : Int(item.seenCount)
    for mediaIndex in 0..<seen {
      let file = files[Int(item.filesStart) + mediaIndex]
      var needed = isActive ? file.entireBytes : file.minimumBytes
      let isInPieces = !isActive && file.pieceCount > 0
      for index in 0..<(isInPieces ? Int(file.pieceCount) : 1) {
        let piece =
          isInPieces ? pieces[Int(file.piecesStart) + index] : Piece(start: 0, end: needed)
        let range = piece.start..<piece.end
        if range.isEmpty { continue }
        let part = PagePlan.Part(
          itemIndex: itemIndex, mediaIndex: mediaIndex,
          variantIndex: file.variant < 0 ? nil : Int(file.variant),
          range: file.isSet(File.isSizeKnownFlag) ? range : nil, bytes: range.count,
          reason: isActive ? .active : file.isSet(File.playsFlag) ? .start : .whole,
          isEstimated: file.isSet(
            isActive ? File.isEntireEstimatedFlag : File.isStartEstimatedFlag))
        let least = file.isSet(File.isDivisibleFlag) ? file.minimumBytes : nil
        guard append(part, to: &parts, needed: needed, least: least, budget: &budget) else {
          return false
        }
        needed -= range.count
      }
    }
    return true
  }

  /// Appends the part as far as the budget reaches: a start of a playing file is useful, a part of an image
  /// is not.
  ///
  /// - Parameters:
  ///   - needed: the bytes of the part, and of the later parts of its file without which it is useless.
  ///   - least: the smallest number of the part's bytes that is useful alone; `nil` if only the whole part
  ///     is.
  /// - Returns: `false` if the budget has no room for it.
  private func append(
    _ part: PagePlan.Part, to parts: inout [PagePlan.Part], needed: Int, least: Int?,
    budget: inout Int
  ) -> Bool {
    if needed <= budget {
      parts.append(part)
      budget -= part.bytes
      return true
    }
    guard let least, budget > 0, budget >= least else { return false }
    parts.append(
      PagePlan.Part(
        itemIndex: part.itemIndex, mediaIndex: part.mediaIndex, variantIndex: part.variantIndex,
        range: part.range.map { $0.lowerBound..<$0.lowerBound + budget }, bytes: budget,
        reason: part.reason, isEstimated: part.isEstimated))
    budget = 0
    return true
  }
}
