extension Policy {
  /// How items are chosen: a name, and the parameters that this name has.
  ///
  /// Another strategy is a case here, a branch of `init(name:parameters:)` and of the plan, and its rows in
  /// a migration, which says to whoever writes policies what there is.
  public enum Strategy: Hashable, Sendable {
    /// The next `leading` items, whatever they weigh.
    case plain(leading: Int)
    /// Of the next `leading` items the first ones, as long as their weights add up to `maxCost` at the most.
    case weighted(leading: Int, maxCost: Int)

    /// The strategy of this name.
    ///
    /// - Throws: `StrategyError` where there is none, or its parameters are others.
    public init(name: String, parameters: [String: Int]) throws(StrategyError) {
      var rest = Parameters(values: parameters)
      switch name {
      case "plain": self = .plain(leading: try rest.take("leading", 0...100))
      case "weighted":
        self = .weighted(
          leading: try rest.take("leading", 0...100),
          maxCost: try rest.take("maxCost", 0...1_000_000))
      default: throw .unknown(name)
      }
      try rest.finish()
    }

    /// What it is called where policies are kept and shown.
    public var name: String {
      switch self {
      case .plain: "plain"
      case .weighted: "weighted"
      }
    }

    /// Its parameters by their names, in the order of these.
    public var parameters: [(name: String, value: Int)] {
      switch self {
      case .plain(let leading): [("leading", leading)]
      case .weighted(let leading, let maxCost): [("leading", leading), ("maxCost", maxCost)]
      }
    }

    /// How many items below the active one may load.
    public var leading: Int {
      switch self {
      case .plain(let leading), .weighted(let leading, _): leading
      }
    }

    /// The weights of the inactive items that load at once add up to no more than this; each counts as one
    /// where their weights do not matter.
    public var maxCost: Int {
      switch self {
      case .plain(let leading): leading
      case .weighted(_, let maxCost): maxCost
      }
    }

    /// Whether so much may load at once.
    func allows(cost: Int) -> Bool {
      switch self {
      case .plain: true
      case .weighted(_, let maxCost): cost <= maxCost
      }
    }
  }
}

/// Why a name and its parameters are no strategy.
public enum StrategyError: Error, Hashable, Sendable {
  /// There is none of this name.
  case unknown(String)
  /// It needs this parameter.
  case missing(String)
  /// It has no such parameter.
  case superfluous(String)
  /// The parameter is outside of its range.
  case outOfRange(String, Int)
  /// The parameters are no JSON object of whole numbers.
  case unreadable
}

extension StrategyError: CustomStringConvertible {
  /// For example `there is no strategy "x"`.
  public var description: String {
    switch self {
    case .unknown(let name): "there is no strategy \"\(name)\""
    case .missing(let name): "the parameter \"\(name)\" is missing"
    case .superfluous(let name): "there is no parameter \"\(name)\""
    case .outOfRange(let name, let value): "the parameter \"\(name)\" cannot be \(value)"
    case .unreadable: "the parameters are no JSON object of whole numbers"
    }
  }
}

/// A policy that this program does not understand.
public struct PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The feed; nil for the policy of all that have none of their own.
  public let feed: String?
  /// The network profile.
  public let network: String
  /// The strategy as it is written.
  public let strategy: String
  /// What is wrong with it.
  public let reason: StrategyError

  /// An error of the policy of this feed on this network.
  public init(feed: String?, network: String, strategy: String, reason: StrategyError) {
    self.feed = feed
    self.network = network
    self.strategy = strategy
    self.reason = reason
  }

  /// Names the policy, its strategy, and what is wrong.
  public var description: String {
    let whose = feed.map { "of the feed \"\($0)\"" } ?? "for all feeds"
    return
      "the policy \(whose) on the network \"\(network)\" has the strategy \"\(strategy)\": \(reason)"
  }
}

/// Parameters that have yet to be taken.
private struct Parameters {
  var values: [String: Int]

  mutating func take(_ name: String, _ range: ClosedRange<Int>) throws(StrategyError) -> Int {
    guard let value = values.removeValue(forKey: name) else { throw .missing(name) }
    guard range.contains(value) else { throw .outOfRange(name, value) }
    return value
  }

  func finish() throws(StrategyError) {
    if let name = values.keys.min() { throw .superfluous(name) }
  }
}
