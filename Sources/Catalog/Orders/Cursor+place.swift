import Feed

extension Cursor.Anchor {
  /// How many entries of the order stand above the anchor.
  func offset(in index: OrderIndex) -> Int {
    switch self {
    case .start: 0
    case .position(let position): index.offset(of: position)
    case .end: index.count
    }
  }

  /// How many entries of the order stand above the anchor or at it.
  func offsetAfter(in index: OrderIndex) -> Int {
    switch self {
    case .start: 0
    case .position(let position): index.offset(after: position)
    case .end: index.count
    }
  }

  /// The anchor nearer to the top.
  func upper(_ other: Self) -> Self {
    switch (self, other) {
    case (.start, _), (_, .start): .start
    case (.end, let anchor), (let anchor, .end): anchor
    case (.position(let left), .position(let right)): .position(min(left, right))
    }
  }
}
