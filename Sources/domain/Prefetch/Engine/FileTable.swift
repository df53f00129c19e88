import Feed

/// What the engine knows of a file.
struct FileState: Equatable, Codable {
  var file: PrefetchFile
  /// What need not be loaded of it any more: what the client has of it, and of a file in chunks all of each chunk that the
  /// client has of another file of its media.
  fileprivate(set) var there = ByteRangeSet()
  /// How many places in the list's items it has.
  var references = 0
  /// The event at which it was last of use.
  var touched = 0
  /// How many bytes arrived ahead of the person who has neither looked at the item since nor passed it.
  var speculativeBytes = 0
  /// In which direction the person last looked at the item or passed it: 1 for down, -1 for up, 0 for not yet.
  var passedDirection = 0
  /// How often in a row a transfer of it failed.
  var attempts = 0
  /// No transfer before this time.
  var retryAt = 0
  /// The same where its server has too much to do, whatever the network.
  var busyUntil: Int?
  /// There is no such file.
  var isGone = false
  /// The slot has no file: it is for the next one.
  var isFree = false
  fileprivate var common: CommonChunks?

  private enum CodingKeys: String, CodingKey {
    // As what the client has was written before there were chunks.
    case there = "held"
    case file, references, touched, speculativeBytes, passedDirection, attempts, retryAt,
      busyUntil, isGone, isFree, common
  }

  /// What the client has of it.
  var held: ByteRangeSet { common?.held ?? there }

  /// Whether each chunk of it may come from any file of its media.
  var hasCommonChunks: Bool { common != nil }

  /// Where it comes piece by piece, a piece is so long: about a second, or a chunk.
  var pieceMilliseconds: Int {
    guard hasCommonChunks, let chunk = file.chunkMilliseconds else {
      return PieceRule.pieceMilliseconds
    }
    return chunk * max(1, PieceRule.pieceMilliseconds / chunk)
  }

  /// How many chunks it is known to have.
  fileprivate var chunkCount: Int {
    hasCommonChunks ? (file.load.timing?.curve.count ?? 0) / 2 : 0
  }

  /// How many bytes a piece of it has.
  func bytes(ofPiece piece: Int) -> Int {
    let chunks = max(1, pieceMilliseconds / max(1, file.chunkMilliseconds ?? pieceMilliseconds))
    return (piece * chunks..<(piece + 1) * chunks).clamped(to: 0..<chunkCount)
      .reduce(0) { $0 + bytes(ofChunk: $1).count }
  }

  /// The bytes of one of them: its curve has two points for each.
  fileprivate func bytes(ofChunk chunk: Int) -> Range<Int> {
    let curve = file.load.timing?.curve ?? []
    let start = chunk == 0 ? 0 : curve[2 * chunk - 1].bytes
    return start..<max(start, curve[2 * chunk].bytes)
  }
}

/// Of a file in chunks, each of which may come from any file of its media.
private struct CommonChunks: Equatable, Codable {
  /// The slots of all files of its media, its own among them.
  var slots: [Int]
  /// What the client has of the file itself.
  var held: ByteRangeSet
}

/// The files that the engine knows, each in a slot that stays its own as long as it is known.
struct FileTable: Equatable {
  private(set) var slots: [FileState] = []
  private var free: [Int] = []
  private var index: [ByteText: Int] = [:]
  /// How many bytes of all files are held.
  private(set) var heldBytes = 0
  /// The sum of the files' `speculativeBytes`.
  private(set) var speculativeBytes = 0
  /// How many files no item of the list has.
  private(set) var looseFiles = 0

  /// The file in a slot that is taken.
  subscript(slot: Int) -> FileState {
    _read { yield slots[slot] }
    _modify { yield &slots[slot] }
  }

  func slot(of key: String) -> Int? { index[ByteText(key)] }

  /// The file's slot, in which what is known of it is brought up to date.
  mutating func add(_ file: PrefetchFile, at event: Int) -> Int {
    if let slot = slot(of: file.key) {
      // What a page leaves open, an answer may have told.
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

  /// Takes in bytes that the client has.
  ///
  /// - Returns: how many are new; `nil` where they make more ranges than are kept.
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

  /// Has these files, of one media, have their chunks in common, or where they have none, nothing.
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
    // A file may have been another media's before.
    for slot in slots { separate(slot) }
    guard areChunked else { return }
    for slot in slots { self[slot].common = CommonChunks(slots: slots, held: self[slot].there) }
    for slot in slots { recover(slot) }
  }

  /// The file has no chunks in common with others any more.
  mutating func separate(_ slot: Int) {
    guard let common = self[slot].common else { return }
    for sibling in common.slots where sibling != slot {
      self[sibling].common?.slots.removeAll { $0 == slot }
      recover(sibling)
    }
    (self[slot].there, self[slot].common) = (common.held, nil)
  }

  /// Bytes came: the chunks of which they are the last need not come from others.
  private mutating func cover(_ range: Range<Int>, by slot: Int) {
    _ = self[slot].there.insert(range)
    let siblings = self[slot].common?.slots ?? []
    // The curve rises: the first chunk that ends behind the first byte.
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

  /// Finds out anew what need not be loaded of a file in chunks.
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

  /// Leaves out bytes that the client has no longer.
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

  /// What failed may be tried again now, but where the server is busy.
  mutating func retryAll() {
    for slot in slots.indices where slots[slot].attempts > 0 {
      (slots[slot].attempts, slots[slot].retryAt) = (0, slots[slot].busyUntil ?? 0)
    }
  }

  /// Counts bytes that arrived for an item ahead of a person who goes in this direction. What comes late for an item that
  /// they passed on their way does not count: no later look would take it out, and a long session would use up what may be
  /// loaded ahead. On the way back it lies ahead again.
  mutating func speculate(_ bytes: Int, on slot: Int, direction: Int) {
    guard self[slot].passedDirection != direction else { return }
    self[slot].speculativeBytes += bytes
    speculativeBytes += bytes
  }

  /// The person has looked at the file's item, or passed it, in this direction.
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
