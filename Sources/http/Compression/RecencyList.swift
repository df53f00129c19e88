/// Elements in the order of their last use, each accessed by its slot's number; every operation is O(1).
///
/// Theory of operation. The slots form a ring: slot 0 holds no element and closes it, so that its `older` is
/// the newest element and its `newer` the oldest, and no end is a special case. Free slots form a chain
/// through `older` and are reused before the array grows.
///
/// Inlinable: with its element known, a look-up in a cache of another module costs a third.
@usableFromInline package struct RecencyList<Element: Sendable>: Sendable {
  /// An element with its neighbours, or a free slot.
  @usableFromInline package struct Slot: Sendable {
    @usableFromInline var element: Element?
    @usableFromInline var newer: Int
    @usableFromInline var older: Int

    @inlinable init(element: Element?, newer: Int, older: Int) {
      self.element = element
      self.newer = newer
      self.older = older
    }
  }

  /// The slot that closes the ring, and the end of the chain of free slots.
  @inlinable static var end: Int { 0 }

  @usableFromInline var slots: [Slot]
  @usableFromInline var firstFree = 0

  /// An empty list.
  @inlinable package init() {
    slots = [Slot(element: nil, newer: 0, older: 0)]
  }

  /// The slot of the least recently used element; nil if there is none.
  @inlinable package var oldest: Int? {
    let slot = slots[Self.end].newer
    return slot == Self.end ? nil : slot
  }

  /// The element of a slot that is in use.
  @inlinable package subscript(slot: Int) -> Element {
    get { slots[slot].element! }
    _modify { yield &slots[slot].element! }
  }

  /// Inserts an element as the newest, and returns its slot.
  @inlinable package mutating func insert(_ element: Element) -> Int {
    let slot: Int
    if firstFree == Self.end {
      slot = slots.count
      slots.append(Slot(element: element, newer: slot, older: slot))
    } else {
      slot = firstFree
      firstFree = slots[slot].older
      slots[slot].element = element
    }
    linkAsNewest(slot)
    return slot
  }

  /// Makes the element of a slot the newest.
  @inlinable package mutating func touch(_ slot: Int) {
    guard slots[Self.end].older != slot else { return }
    unlink(slot)
    linkAsNewest(slot)
  }

  /// Removes the element of a slot, and returns it.
  @inlinable package mutating func remove(_ slot: Int) -> Element {
    let element = self[slot]
    unlink(slot)
    slots[slot].element = nil
    slots[slot].older = firstFree
    firstFree = slot
    return element
  }

  @inlinable mutating func linkAsNewest(_ slot: Int) {
    let second = slots[Self.end].older
    slots[slot].newer = Self.end
    slots[slot].older = second
    slots[second].newer = slot
    slots[Self.end].older = slot
  }

  @inlinable mutating func unlink(_ slot: Int) {
    let (newer, older) = (slots[slot].newer, slots[slot].older)
    slots[newer].older = older
    slots[older].newer = newer
  }
}
