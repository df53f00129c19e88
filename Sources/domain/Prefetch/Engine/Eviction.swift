/// Eviction, only at a limit or when the system asks for memory.
extension EngineFacts {
  mutating func makeRoom(_ actions: inout [PrefetchAction]) {
    guard files.heldBytes > max(settings.heldBytes, evictionBytes) else { return }
    evict(
      toBytes: evictionAimBytes,
      .full(heldBytes: files.heldBytes, limitBytes: settings.heldBytes), &actions)
    // If what is left must stay, the next eviction waits until a sixteenth more is held.
    let rest = files.heldBytes
    evictionBytes = rest > settings.heldBytes ? rest + settings.heldBytes / 16 + 1 : 0
  }

  /// Whether this many more bytes of an item can be held without evicting them again, or bytes nearer to the
  /// person.
  func hasRoom(for bytes: Int, of position: Int) -> Bool {
    let coming = transfers.reduce(bytes) { $0 + $1.bytesUnderWay }
    if files.heldBytes + coming <= evictionAimBytes { return true }
    // Farther files can be evicted, except those that a transfer adds to.
    let (distances, limit, growing) = (distances(), distance(of: position), growingSlots)
    let kept = files.slots.indices.reduce(0) { kept, slot in
      let stays = distances[slot] <= limit || growing.contains(slot)
      return kept + (stays ? files[slot].held.count : 0)
    }
    return kept + coming <= evictionAimBytes
  }

  /// The files that a transfer adds to.
  private var growingSlots: Set<Int> { Set(transfers.map(\.slot)) }

  /// The number of bytes held after an eviction.
  private var evictionAimBytes: Int { settings.heldBytes - settings.heldBytes / 8 }

  /// Evicts whole files, farthest from the person first, until at most `aim` bytes are held: never files of
  /// the active item, and never files that a transfer adds to.
  mutating func evict(
    toBytes aim: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    guard files.heldBytes > aim else { return }
    let (distances, growing) = (distances(), growingSlots)
    var candidates = files.slots.indices.filter { slot in
      files[slot].held.count > 0 && distances[slot] != 0 && !growing.contains(slot)
    }
    candidates.sort {
      (distances[$0], -files[$0].touched, $0) > (distances[$1], -files[$1].touched, $1)
    }
    for slot in candidates where files.heldBytes > aim { forget(slot, reason, &actions) }
  }

  /// The distance of each file's nearest item from the active one. Items behind the person count twice as
  /// far, and files that have left the list are farthest.
  private func distances() -> [Int] {
    var distances = [Int](repeating: Int.max, count: files.slots.count)
    guard viewer.active != nil else { return distances }
    for position in list.positions {
      let distance = distance(of: position)
      for media in list[position].media {
        for slot in media.slots { distances[slot] = min(distances[slot], distance) }
      }
    }
    return distances
  }

  private func distance(of position: Int) -> Int {
    let ahead = (position - (viewer.active ?? position)) * viewer.direction
    return ahead < 0 ? -2 * ahead : ahead
  }

  /// Evicts all held bytes of a file.
  mutating func forget(
    _ slot: Int, _ reason: PrefetchReason, _ actions: inout [PrefetchAction]
  ) {
    let held = files[slot].held
    guard held.count > 0 else { return }
    for range in held.ranges {
      actions.append(PrefetchAction(.evict(key: files[slot].file.key, range), reason))
    }
    counts.evictedBytes += held.count
    files.drop(0..<Int.max, of: slot)
    guard files[slot].references > 0 else { return }
    // Its items are no longer ready.
    for position in list.positions
    where list[position].media.contains(where: { $0.slots.contains(slot) }) {
      list[position].isReady = false
      list[position].decodesFrom = nil
    }
  }

  /// Forgets the least recently used files that no item of the list has, if there are too many.
  mutating func limitLooseFiles(_ actions: inout [PrefetchAction]) {
    guard files.looseFiles > settings.heldFiles else { return }
    let reason = PrefetchReason.files(files.looseFiles, limit: settings.heldFiles)
    let growing = growingSlots
    let loose = files.slots.indices.filter { slot in
      !files[slot].isFree && files[slot].references == 0 && !growing.contains(slot)
    }
    let excess = files.looseFiles - (settings.heldFiles - settings.heldFiles / 8)
    for slot in loose.sorted(by: { (files[$0].touched, $0) < (files[$1].touched, $1) }).prefix(
      excess)
    {
      forget(slot, reason, &actions)
      files.forget(slot)
    }
  }
}
