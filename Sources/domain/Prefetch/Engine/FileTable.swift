import Feed

/// The state of a file.
struct FileState: Equatable, Codable {
  var file: PrefetchFile
  /// The bytes that need not be loaded: those that the client holds and, of a file in chunks, those of each
  /// chunk that the client holds of another file of its media.
  fileprivate(set) var there = ByteRangeSet()
  /// The number of references from the list's items.
  var references = 0
  /// The number of the event at which the file was last used.
  var touched = 0
  /// The number of bytes that arrived ahead of the person, who has since neither looked at the item nor
  /// passed it.
  var speculativeBytes = 0
  /// The direction in which the person last looked at the item or passed it: 1 for down, -1 for up, 0 for not
  /// yet.
  var passedDirection = 0
  /// The number of consecutive failed transfers.
  var attempts = 0
  /// The time before which the file is not requested.
  var retryAt = 0
  /// The same time if the server is busy, on any network.
  var busyUntil: Int?
  /// Whether the file does not exist.
  var isGone = false
  /// Whether the slot has no file and is free for the next one.
  var isFree = false
  fileprivate var common: CommonChunks?

  private enum CodingKeys: String, CodingKey {
    // The key under which held bytes were encoded before there were chunks.
    case there = "held"
    case file, references, touched, speculativeBytes, passedDirection, attempts, retryAt,
      busyUntil, isGone, isFree, common
  }

  /// The bytes that the client holds.
  var held: ByteRangeSet { common?.held ?? there }

  /// Whether each chunk may come from any file of its media.
  var hasCommonChunks: Bool { common != nil }

  /// The duration of a piece if the file loads piece by piece: about a second, or a chunk.
  var pieceMilliseconds: Int {
    guard hasCommonChunks, let chunk = file.chunkMilliseconds else {
      return PieceRule.pieceMilliseconds
    }
    return chunk * max(1, PieceRule.pieceMilliseconds / chunk)
  }

  /// The number of known chunks.
  fileprivate var chunkCount: Int {
    hasCommonChunks ? (file.load.timing?.curve.count ?? 0) / 2 : 0
  }

  /// The number of bytes of a piece.
  func bytes(ofPiece piece: Int) -> Int {
    let chunks = max(1, pieceMilliseconds / max(1, file.chunkMilliseconds ?? pieceMilliseconds))
    return (piece * chunks..<(piece + 1) * chunks).clamped(to: 0..<chunkCount)
      .reduce(0) { $0 + bytes(ofChunk: $1).count }
  }

  /// The bytes of a chunk. The curve has two points for each.
  fileprivate func bytes(ofChunk chunk: Int) -> Range<Int> {
    let curve = file.load.timing?.curve ?? []
    let start = chunk == 0 ? 0 : curve[2 * chunk - 1].bytes
    return start..<max(start, curve[2 * chunk].bytes)
  }
}

/// The state of a file in chunks, each of which may come from any file of its media.
private struct CommonChunks: Equatable, Codable {
  /// The slots of all files of its media, including its own.
  var slots: [Int]
  /// The bytes that the client holds of the file itself.
  var held: ByteRangeSet
}

/// The known files, each in a slot that it keeps as long as it is known.
struct FileTable: Equatable {
  private(set) var slots: [FileState] = []
  private var free: [Int] = []
  private var index: [ByteText: Int] = [:]
  /// The number of held bytes of all files.
  private(set) var heldBytes = 0
  /// The sum of the files' `speculativeBytes`.
  private(set) var speculativeBytes = 0
  /// The number of files that no item of the list has.
  private(set) var looseFiles = 0

  /// The file in an occupied slot.
  subscript(slot: Int) -> FileState {
    _read { yield slots[slot] }
    _modify { yield &slots[slot] }
  }

  func slot(of key: String) -> Int? { index[ByteText(key)] }

  /// Adds the file, or updates it if it is known.
  ///
  /// - Returns: the file's slot.
  mutating func add(_ file: PrefetchFile, at event: Int) -> Int {
    if let slot = slot(of: file.key) {
      // A response may have given what the page omits.
      let known = self[slot].file.load
      self[slot].file = file
      if file.load.bytes == nil { self[slot].file.load.bytes = known.bytes }
      if file.load.timing == nil { self[slot].file.load.timing = known.timing }
      self[slot].touched = event
      if let bytes = file.load.bytes { drop(bytes..<Int.max, of: slot) }
      return slot
    }
    var state = FileState(file: file)
    state.touched = event
    looseFiles += 1
    let slot = free.popLast() ?? slots.count
    if slot == slots.count { slots.append(state) } else { slots[slot] = state }
    index[ByteText(file.key)] = slot
    return slot
  }

  mutating func refer(to slot: Int) {
    if self[slot].references == 0 { looseFiles -= 1 }
    self[slot].references += 1
    self[slot].passedDirection = 0
  }

  mutating func unrefer(_ slot: Int) {
    self[slot].references -= 1
    assert(self[slot].references >= 0, "a file was let go more often than it was referred to")
    guard self[slot].references == 0 else { return }
    looseFiles += 1
    settle(slot, direction: 0)
  }

  /// Records bytes that the client holds.
  ///
  /// - Returns: the number of new bytes; `nil` if there would be more ranges than are kept.
  mutating func hold(_ range: Range<Int>, of slot: Int) -> Int? {
    let limit = ByteRangeSet.rangeLimit
    guard self[slot].hasCommonChunks else {
      guard let new = self[slot].there.insert(range, limit: limit) else { return nil }
      heldBytes += new
      return new
    }
    guard let new = self[slot].common?.held.insert(range, limit: limit) else { return nil }
    heldBytes += new
    cover(range, by: slot)
    return new
  }

  /// Joins these files of one media so that they have their chunks in common, or nothing if they have no
  /// common chunks.
  mutating func join(_ slots: [Int]) {
    // Most files are plain, and pages have many.
    guard
      slots.contains(where: {
        self[$0].file.chunkMilliseconds != nil || self[$0].hasCommonChunks
      })
    else { return }
    let first = self[slots[0]].file
    let areChunked = slots.allSatisfy {
      let file = self[$0].file
      return file.chunkMilliseconds != nil && file.chunkMilliseconds == first.chunkMilliseconds
        && file.load.timing?.curve.count == first.load.timing?.curve.count
        && file.load.timing?.curve.isEmpty == false
    }
    // A file may have belonged to another media before.
    for slot in slots { separate(slot) }
    guard areChunked else { return }
    for slot in slots { self[slot].common = CommonChunks(slots: slots, held: self[slot].there) }
    for slot in slots { recover(slot) }
  }

  /// Ends the sharing of chunks between the file and others.
  mutating func separate(_ slot: Int) {
    guard let common = self[slot].common else { return }
    for sibling in common.slots where sibling != slot {
      self[sibling].common?.slots.removeAll { $0 == slot }
      recover(sibling)
    }
    (self[slot].there, self[slot].common) = (common.held, nil)
  }

  /// Records bytes that arrived: chunks that they complete need not come from other files.
  private mutating func cover(_ range: Range<Int>, by slot: Int) {
    _ = self[slot].there.insert(range)
    let siblings = self[slot].common?.slots ?? []
    // The curve rises: find the first chunk that ends behind the first byte.
    var (low, high) = (0, self[slot].chunkCount)
    while low < high {
      let middle = (low + high) / 2
      if self[slot].bytes(ofChunk: middle).upperBound > range.lowerBound {
        high = middle
      } else {
        low = middle + 1
      }
    }
    while low < self[slot].chunkCount {
      let bytes = self[slot].bytes(ofChunk: low)
      guard bytes.lowerBound < range.upperBound else { break }
      if !bytes.isEmpty, self[slot].held.contains(bytes) {
        for other in siblings where other != slot && low < self[other].chunkCount {
          let bytes = self[other].bytes(ofChunk: low)
          _ = self[other].there.insert(bytes)
        }
      }
      low += 1
    }
    assert(
      siblings.allSatisfy { self[$0].there == covered($0) },
      "what need not be loaded is not what is held of all variants")
  }

  /// Recomputes the bytes of a file in chunks that need not be loaded.
  private mutating func recover(_ slot: Int) {
    self[slot].there = covered(slot)
  }

  private func covered(_ slot: Int) -> ByteRangeSet {
    var covered = self[slot].held
    for other in self[slot].common?.slots ?? [] where other != slot && !self[other].held.isEmpty {
      for chunk in 0..<min(self[slot].chunkCount, self[other].chunkCount) {
        let bytes = self[other].bytes(ofChunk: chunk)
        guard !bytes.isEmpty, self[other].held.contains(bytes) else { continue }
        _ = covered.insert(self[slot].bytes(ofChunk: chunk))
      }
    }
    return covered
  }

  /// Removes bytes that the client no longer holds.
  mutating func drop(_ range: Range<Int>, of slot: Int) {
    let before = self[slot].held.count
    if self[slot].hasCommonChunks {
      self[slot].common?.held.remove(range)
    } else {
      self[slot].there.remove(range)
    }
    let after = self[slot].held.count
    heldBytes += after - before
    if after != before { for sibling in self[slot].common?.slots ?? [] { recover(sibling) } }
    let speculative = min(self[slot].speculativeBytes, after)
    speculativeBytes += speculative - self[slot].speculativeBytes
    self[slot].speculativeBytes = speculative
    assert(isSummed, "the sums are not those of the files")
  }

  private var isSummed: Bool {
    heldBytes == slots.reduce(0) { $0 + $1.held.count }
      && speculativeBytes == slots.reduce(0) { $0 + $1.speculativeBytes }
      && looseFiles == slots.reduce(0) { $0 + (!$1.isFree && $1.references == 0 ? 1 : 0) }
  }

  /// Allows an immediate retry of failed files, unless the server is busy.
  mutating func retryAll() {
    for slot in slots.indices where slots[slot].attempts > 0 {
      (slots[slot].attempts, slots[slot].retryAt) = (0, slots[slot].busyUntil ?? 0)
    }
  }

  /// Counts bytes that arrived for an item ahead of a person who moves in this direction. Bytes that arrive
  /// late for an item that the person has passed on the way do not count: no later look would subtract them,
  /// and over a long session they would use up the allowance. On the way back the item is ahead again.
  mutating func speculate(_ bytes: Int, on slot: Int, direction: Int) {
    guard self[slot].passedDirection != direction else { return }
    self[slot].speculativeBytes += bytes
    speculativeBytes += bytes
  }

  /// Records that the person has looked at the file's item, or passed it, in this direction.
  mutating func settle(_ slot: Int, direction: Int) {
    self[slot].passedDirection = direction
    speculativeBytes -= self[slot].speculativeBytes
    self[slot].speculativeBytes = 0
  }

  /// Forgets a file that no item of the list has.
  mutating func forget(_ slot: Int) {
    drop(0..<Int.max, of: slot)
    separate(slot)
    index[ByteText(self[slot].file.key)] = nil
    slots[slot] = FileState(file: PrefetchFile(key: "", load: MediaLoad(kind: .image)))
    slots[slot].isFree = true
    free.append(slot)
    looseFiles -= 1
  }
}

extension FileTable: Codable {
  private enum CodingKeys: CodingKey {
    case slots, free
  }

  init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    slots = try values.decode([FileState].self, forKey: .slots)
    free = try values.decode([Int].self, forKey: .free)
    for (slot, state) in slots.enumerated() where !state.isFree {
      index[ByteText(state.file.key)] = slot
      heldBytes += state.held.count
      speculativeBytes += state.speculativeBytes
      if state.references == 0 { looseFiles += 1 }
    }
  }

  func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(slots, forKey: .slots)
    try values.encode(free, forKey: .free)
  }
}
