import DequeModule

/// The turn of a piece of work: its kind, and the client for which it is done.
public struct Turn: Sendable, Hashable {
  /// The kind, counted from 0.
  public let kind: Int
  /// Any number that identifies the client.
  public let client: Int

  /// A turn of the kind and the client.
  public init(kind: Int, client: Int) {
    self.kind = kind
    self.client = client
  }
}

/// Waiting elements, taken in turns: kind by kind, and within a kind client by client; elements of the same
/// kind and client in the order of their arrival.
struct TurnQueue<Element> {
  /// The waiting elements of one kind.
  fileprivate struct Kind {
    /// The clients with waiting elements; the first one is next.
    var clients: Deque<Int> = []
    var waiting: [Int: Deque<Element>] = [:]

    mutating func popFirst() -> Element? {
      guard let client = clients.popFirst(), let element = waiting[client]?.popFirst() else {
        return nil
      }
      if waiting[client]?.isEmpty == true {
        waiting[client] = nil
      } else {
        clients.append(client)
      }
      return element
    }
  }

  private var kinds: [Kind]
  /// The kinds with waiting elements; the first one is next.
  private var order: Deque<Int> = []
  private(set) var count = 0

  init(kinds: Int) { self.kinds = Array(repeating: Kind(), count: kinds) }

  var isEmpty: Bool { count == 0 }

  func count(of turn: Turn) -> Int { kinds[turn.kind].waiting[turn.client]?.count ?? 0 }

  mutating func append(_ element: Element, _ turn: Turn) {
    if kinds[turn.kind].clients.isEmpty { order.append(turn.kind) }
    if kinds[turn.kind].waiting[turn.client] == nil { kinds[turn.kind].clients.append(turn.client) }
    kinds[turn.kind].waiting[turn.client, default: []].append(element)
    count += 1
  }

  /// Takes the next element of the first wanted kind; nil if no element of such a kind waits.
  mutating func popFirst(of isWanted: (Int) -> Bool) -> Element? {
    guard let place = order.firstIndex(where: isWanted) else { return nil }
    let kind = order.remove(at: place)
    let element = kinds[kind].popFirst()
    if !kinds[kind].clients.isEmpty { order.append(kind) }
    count -= 1
    return element
  }

  mutating func removeAll() { self = TurnQueue(kinds: kinds.count) }
}

extension TurnQueue: Sendable where Element: Sendable {}
extension TurnQueue.Kind: Sendable where Element: Sendable {}
