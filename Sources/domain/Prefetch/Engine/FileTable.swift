import Feed

/// What the engine knows of a file.
struct FileState: Equatable, Codable {
  var file: PrefetchFile
  /// What the client has of it.
  var held = ByteRangeSet()
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
  /// There is no such file.
  var isGone = false
  /// The slot has no file: it is for the next one.
  var isFree = false
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
    guard let new = self[slot].held.insert(range, limit: ByteRangeSet.rangeLimit)
    else { return nil }
    heldBytes += new
    return new
  }

  /// Leaves out bytes that the client has no longer.
  mutating func drop(_ range: Range<Int>, of slot: Int) {
    let before = self[slot].held.count
    self[slot].held.remove(range)
    let after = self[slot].held.count
    heldBytes += after - before
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
