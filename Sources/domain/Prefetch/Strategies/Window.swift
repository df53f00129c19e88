/// Loads the next `leading` items, regardless of weight.
struct PlainStrategy: PrefetchStrategy {
  static let name = "plain"
  static let parameterList = [Parameter("leading", 0...100, \.leading)]

  var leading = 5

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    facts.addNext(leading, .start, from: active, to: &wants)
  }
}

/// Loads like a platform's own list: the next `leading` items whole, without cancelling what has begun.
struct StandardStrategy: PrefetchStrategy {
  static let name = "standard"
  static let parameterList = [Parameter("leading", 0...100, \.leading)]

  var leading = 3

  var stopping: StoppingRule { StoppingRule(finishesBegun: true) }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    facts.addNext(leading, .entire, from: active, to: &wants)
  }
}

/// Loads the first of the next `leading` items, while their weights add up to at most `maxCost` (S1).
struct WeightedStrategy: PrefetchStrategy {
  static let name = "weighted"
  static let parameterList = [
    Parameter("leading", 0...100, \.leading), Parameter("maxCost", 0...1_000_000, \.maxCost),
  ]

  var leading = 10
  var maxCost = 5

  var stopping: StoppingRule { StoppingRule(pauses: true) }
  func allows(cost: Int) -> Bool { cost <= maxCost }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    var cost = 0
    for step in 0..<leading {
      let distance = (step + 1) * facts.viewer.direction
      guard facts.list.positions.contains(active + distance) else { return }
      cost += facts.list[active + distance].weight
      guard cost <= maxCost else { return }
      wants.append(
        Want(
          position: active + distance, amount: .start,
          reason: .weighed(distance: distance, cost: cost, maxCost: maxCost)))
    }
  }
}

/// Loads, at rest, the items around the active one; in a fling, those around the place where it will stop,
/// and nothing on the way (S6).
struct LazyTargetStrategy: PrefetchStrategy {
  static let name = "lazy-target"
  static let parameterList = [
    Parameter("leading", 0...100, \.leading), Parameter("trailing", 0...100, \.trailing),
  ]

  var leading = 3
  var trailing = 1

  var followsFlings: Bool { true }

  func passesActive(_ facts: EngineFacts) -> Bool {
    facts.viewer.isFlung(facts.settings) && facts.viewer.stopDistance != 0
  }

  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    let viewer = facts.viewer
    let stop = viewer.isFlung(facts.settings) ? viewer.stopDistance : nil
    // In a fling whose end is unknown, nothing is loaded.
    if viewer.isFlung(facts.settings), stop == nil { return }
    let distances =
      [0] + (0..<leading).map { ($0 + 1) * viewer.direction }
      + (0..<trailing).map { -($0 + 1) * viewer.direction }
    for around in distances {
      let distance = (stop ?? 0) + around
      guard distance != 0, facts.list.positions.contains(active + distance) else { continue }
      wants.append(
        Want(position: active + distance, amount: .start, reason: .target(distance: distance)))
    }
  }
}

extension EngineFacts {
  /// Adds the next items in the direction of the scroll.
  fileprivate func addNext(
    _ count: Int, _ amount: Want.Amount, from active: Int, to wants: inout [Want]
  ) {
    for step in 0..<count {
      let distance = (step + 1) * viewer.direction
      guard list.positions.contains(active + distance) else { return }
      wants.append(
        Want(
          position: active + distance, amount: amount, reason: .near(distance: distance, bytes: 0)))
    }
  }
}

extension Policy.Strategy {
  /// A strategy that loads the next `leading` items, regardless of weight.
  public static func plain(leading: Int) -> Self { Self(PlainStrategy(leading: leading)) }

  /// A strategy that loads like a platform's own list: the next `leading` items whole, without cancelling
  /// what has begun.
  public static func standard(leading: Int) -> Self { Self(StandardStrategy(leading: leading)) }

  /// A strategy that loads the first of the next `leading` items, while their weights add up to at most
  /// `maxCost`.
  public static func weighted(leading: Int, maxCost: Int) -> Self {
    Self(WeightedStrategy(leading: leading, maxCost: maxCost))
  }

  /// A strategy that loads, at rest, the items around the active one; in a fling, those around the place
  /// where it will stop, and nothing on the way.
  public static func lazyTarget(leading: Int, trailing: Int) -> Self {
    Self(LazyTargetStrategy(leading: leading, trailing: trailing))
  }
}
