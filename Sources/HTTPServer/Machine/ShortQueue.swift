import DequeModule

/// A queue whose first element lies in it, where it is read without a copy: most queues of a connection
/// have one element or none, and then no memory of their own.
struct ShortQueue<Element> {
  private(set) var first: Element?
  private var others: Deque<Element> = []

  var isEmpty: Bool { first == nil }
  var count: Int { first == nil ? 0 : 1 + others.count }

  mutating func append(_ element: consuming Element) {
    if first == nil { first = element } else { others.append(element) }
  }

  mutating func popFirst() -> Element? {
    let element = first.take()
    if !others.isEmpty {
      first = others.removeFirst()
      if others.isEmpty { others = [] }
    }
    return element
  }

  mutating func removeAll() {
    first = nil
    others = []
  }

  /// Reads or changes the element at an index that exists, in its place.
  mutating func withElement<Result>(
    at index: Int, _ change: (inout Element) -> Result
  ) -> Result {
    index == 0 ? change(&first!) : change(&others[index - 1])
  }
}
