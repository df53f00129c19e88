import DequeModule

/// A queue whose first element lies in it and is changed in place: most queues of a connection have one
/// element or none, and then no memory of their own.
struct ShortQueue<Element> {
  private(set) var count = 0
  private(set) var first: Element?
  private var others: Deque<Element> = []

  var isEmpty: Bool { count == 0 }

  mutating func append(_ element: consuming Element) {
    if count == 0 { first = element } else { others.append(element) }
    count += 1
  }

  mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    count -= 1
    let element = first.take()
    if count > 0 {
      first = others.removeFirst()
      if count == 1 { others = [] }
    }
    return element
  }

  mutating func removeAll() {
    count = 0
    first = nil
    others = []
  }

  /// Looks at the element at an index that exists, or changes it, without a copy.
  mutating func withElement<Result>(
    at index: Int, _ body: (inout Element) -> Result
  ) -> Result {
    index == 0 ? body(&first!) : body(&others[index - 1])
  }
}
