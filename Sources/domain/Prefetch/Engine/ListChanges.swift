import Feed

/// The changes that pages make to the list.
extension EngineFacts {
  mutating func pageArrived(
    _ place: PrefetchPlace, _ items: [PrefetchItem], _ hasPrevious: Bool, _ hasNext: Bool,
    _ actions: inout [PrefetchAction]
  ) {
    pages.pending.removeAll { $0.isSameEnd(as: place) }
    // A page without items that says that more follow must not be requested in a loop.
    var isFruitless = false
    switch place {
    case .below:
      let states = newStates(items)
      for state in states { list.append(state) }
      if !states.isEmpty { pages.newestCount = states.count }
      pages.hasNext = hasNext
      isFruitless = states.isEmpty && hasNext
    case .above:
      let states = newStates(items)
      list.prepend(states)
      pages.hasPrevious = hasPrevious
      isFruitless = states.isEmpty && hasPrevious
    case .anew, .around:
      replaceList(items, place)
      (pages.hasPrevious, pages.hasNext) = (hasPrevious, hasNext)
      pages.newestCount = list.count
      pages.pending.removeAll()
      // The window surrounds the place where a fling stops, so that no distance is left.
      if case .around = place { viewer.stopDistance = 0 } else { viewer.stopDistance = nil }
    }
    let awaited = viewer.awaited.flatMap(list.position(of:))
    if viewer.active == nil, !list.items.isEmpty { look(at: awaited ?? list.first) }
    if let awaited {
      viewer.awaited = nil
      activate(awaited)
    }
    let isExpired = viewer.active.flatMap { list[$0].expiresAt }.map { $0 <= now } == true
    pages.attempts = isFruitless || isExpired ? pages.attempts + 1 : 0
    pages.retryAt = pages.attempts > 0 ? retryTime(pages.attempts, nil) : now
    trim()
    findTransfers()
    limitLooseFiles(&actions)
    viewer.moves += 1
  }

  /// The items that the list does not have. Those that it has are updated.
  private mutating func newStates(_ items: [PrefetchItem]) -> [ItemState] {
    var seen: Set<ByteText> = []
    var states: [ItemState] = []
    states.reserveCapacity(items.count)
    for item in items where seen.insert(ByteText(item.id)).inserted {
      if let position = list.position(of: item.id) {
        let old = list[position]
        list[position] = state(of: item, after: old)
        release(old)
      } else {
        states.append(state(of: item, after: nil))
      }
    }
    return states
  }

  /// The state of an item, with a reference to each of its files in the table.
  private mutating func state(of item: PrefetchItem, after old: ItemState?) -> ItemState {
    var media: [MediaState] = []
    media.reserveCapacity(item.media.count)
    for one in item.media where !one.files.isEmpty {
      var slots: [Int] = []
      for file in one.files {
        let slot = files.add(file.sane, at: eventNumber)
        files.refer(to: slot)
        if let bytes = files[slot].file.load.bytes { endTransfers(of: slot, at: bytes) }
        slots.append(slot)
      }
      files.join(slots)
      media.append(MediaState(slots: slots))
    }
    let loads = item.media.compactMap { $0.files.first?.sane.load }
    let load = ItemLoad(type: item.type, hasPage: false, media: loads[...])
    var state = ItemState(
      id: item.id, type: item.type, media: media, expiresAt: item.expiresAtMilliseconds,
      survival: item.survival.sane)
    // As in a page's plan, an item with nothing to load weighs nothing.
    let hint = costs.hint(for: load)
    state.weight = loads.isEmpty || hint.minimumBytes == 0 ? 0 : hint.weight
    if let old, old.media.map(\.slots) == media.map(\.slots) {
      (state.media, state.isReady, state.decodesFrom) = (old.media, old.isReady, old.decodesFrom)
    }
    return state
  }

  private mutating func release(_ item: ItemState) {
    for media in item.media { for slot in media.slots { files.unrefer(slot) } }
  }

  /// Replaces the list by the page. Items that both have keep their state.
  private mutating func replaceList(_ items: [PrefetchItem], _ place: PrefetchPlace) {
    let active = viewer.active.map { list[$0].id }
    let old = list.items
    var seen: Set<ByteText> = []
    var states: [ItemState] = []
    for item in items where seen.insert(ByteText(item.id)).inserted {
      states.append(
        state(of: item, after: list.position(of: item.id).map { list[$0] }))
    }
    old.forEach { release($0) }
    list.replace(states)
    if let position = active.flatMap(list.position(of:)) {
      viewer.active = position
    } else if let awaited = viewer.awaited.flatMap(list.position(of:)) {
      look(at: awaited)
    } else if case .around = place, !states.isEmpty {
      // The fling stops at the middle of the window.
      look(at: states.count / 2)
    } else {
      look(at: states.isEmpty ? nil : 0)
    }
  }

  /// Reduces and reorders the list to these of its items.
  mutating func arrange(_ items: [ItemState]) {
    let active = viewer.active.map { (position: $0 - list.first, id: list[$0].id) }
    let kept = Set(items.map { ByteText($0.id) })
    for item in list.items where !kept.contains(item.id) { release(item) }
    list.replace(items)
    findTransfers()
    viewer.moves += 1
    guard let active else { return }
    if let position = list.position(of: active.id) {
      viewer.active = position
    } else {
      look(at: items.isEmpty ? nil : min(active.position, items.count - 1))
    }
  }

  /// Updates the positions of the transfers' items.
  private mutating func findTransfers() {
    for index in transfers.indices {
      transfers[index].position = list.position(of: transfers[index].item)
    }
  }

  /// Removes the items farthest from the active one if there are too many. They can be requested again.
  private mutating func trim() {
    guard list.count > settings.heldItems, let active = viewer.active else { return }
    // Removes some more than necessary, so as not to do this for each item.
    let excess = list.count - max(settings.heldItems - settings.heldItems / 8, 1)
    let above = min(excess, max(0, active - list.first - list.count / 8))
    let below = min(excess - above, max(0, list.end - 1 - active))
    for item in list.items.prefix(above) { release(item) }
    for item in list.items.suffix(below) { release(item) }
    list.removeFirst(above)
    list.removeLast(below)
    if above > 0 { pages.hasPrevious = true }
    if below > 0 {
      pages.hasNext = true
      pages.newestCount = min(pages.newestCount, list.count)
    }
  }
}

extension PrefetchPlace {
  /// Whether an answer for one place answers the other.
  func isSameEnd(as other: PrefetchPlace) -> Bool {
    switch (self, other) {
    case (.anew, .anew), (.below, .below), (.above, .above), (.around, .around): true
    default: false
    }
  }
}
