extension Policy {
  /// How items are chosen: a name, and the parameters that this name has.
  ///
  /// Another strategy is a case here, a branch of `init(name:parameters:)`, of `parameters` and of what the
  /// engine wants (`PrefetchEngine.wants`), and its rows in a migration, which says to whoever writes
  /// policies what there is.
  public enum Strategy: Hashable, Sendable {
    /// The next `leading` items, whatever they weigh.
    case plain(leading: Int)
    /// Of the next `leading` items the first ones, as long as their weights add up to `maxCost` at the most.
    case weighted(leading: Int, maxCost: Int)
    /// What a platform's list does by itself: the next `leading` items whole, and what has begun is not
    /// cancelled.
    case standard(leading: Int)
    /// Nothing ahead, and the next page at the end of the list.
    case endless
    /// Nothing ahead but pages: the next one as soon as this share of the whole list was seen.
    case thresholdFixed(percent: Int)
    /// The same, of the newest page.
    case thresholdDynamic(percent: Int)
    /// At rest the items around the active one; in a fling those around the place where it will stop, and
    /// nothing on the way.
    case lazyTarget(leading: Int, trailing: Int)
    /// What is in ranges around the screen, larger in the direction of the scroll. Its many numbers lie elsewhere,
    /// as those of stages do: an engine looks at its strategy many times an event.
    indirect case rangeController(RangeTuning)
    /// So much of a clip as its distance says.
    indirect case stages(StageTuning)
    /// Ours: the step with the most expected waiting avoided for a byte, as long as that is worth the price.
    case expectedWait(WaitTuning)

    /// The strategy of this name.
    ///
    /// - Throws: `StrategyError` where there is none, or its parameters are others.
    public init(name: String, parameters: [String: Int]) throws(StrategyError) {
      var rest = StrategyParameters(values: parameters)
      switch name {
      case "plain": self = .plain(leading: try rest.take("leading", 0...100))
      case "weighted":
        self = .weighted(
          leading: try rest.take("leading", 0...100),
          maxCost: try rest.take("maxCost", 0...1_000_000))
      case "standard": self = .standard(leading: try rest.take("leading", 0...100))
      case "endless": self = .endless
      case "threshold-fixed": self = .thresholdFixed(percent: try rest.take("percent", 1...100))
      case "threshold-dynamic": self = .thresholdDynamic(percent: try rest.take("percent", 1...100))
      case "lazy-target":
        self = .lazyTarget(
          leading: try rest.take("leading", 0...100), trailing: try rest.take("trailing", 0...100))
      case "range-controller": self = .rangeController(try RangeTuning(&rest))
      case "stages": self = .stages(try StageTuning(&rest))
      case "expected-wait": self = .expectedWait(try WaitTuning(&rest))
      default: throw .unknown(name)
      }
      try rest.finish()
    }

    /// What it is called where policies are kept and shown.
    public var name: String {
      switch self {
      case .plain: "plain"
      case .weighted: "weighted"
      case .standard: "standard"
      case .endless: "endless"
      case .thresholdFixed: "threshold-fixed"
      case .thresholdDynamic: "threshold-dynamic"
      case .lazyTarget: "lazy-target"
      case .rangeController: "range-controller"
      case .stages: "stages"
      case .expectedWait: "expected-wait"
      }
    }

    /// Its parameters by their names, in the order of these.
    public var parameters: [(name: String, value: Int)] {
      switch self {
      case .plain(let leading), .standard(let leading): [("leading", leading)]
      case .weighted(let leading, let maxCost): [("leading", leading), ("maxCost", maxCost)]
      case .endless: []
      case .thresholdFixed(let percent), .thresholdDynamic(let percent): [("percent", percent)]
      case .lazyTarget(let leading, let trailing):
        [("leading", leading), ("trailing", trailing)]
      case .rangeController(let tuning): tuning.parameters
      case .stages(let tuning): tuning.parameters
      case .expectedWait(let tuning): tuning.parameters
      }
    }

    /// How many items below the active one may load.
    public var leading: Int {
      switch self {
      case .plain(let leading), .weighted(let leading, _), .standard(let leading),
        .lazyTarget(let leading, _):
        leading
      case .endless, .thresholdFixed, .thresholdDynamic: 0
      case .rangeController(let tuning): tuning.leadingItems(of: .full)
      case .stages(let tuning): tuning.preparedDistance
      case .expectedWait(let tuning): tuning.leading
      }
    }

    /// The weights of the inactive items that load at once add up to no more than this; each counts as one
    /// where their weights do not matter.
    public var maxCost: Int {
      if case .weighted(_, let maxCost) = self { maxCost } else { leading }
    }

    /// Whether so much may load at once.
    func allows(cost: Int) -> Bool {
      if case .weighted(_, let maxCost) = self { cost <= maxCost } else { true }
    }
  }
}

extension Policy.Strategy: Codable {
  private enum CodingKeys: CodingKey {
    case name, parameters
  }

  /// What `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      name: values.decode(String.self, forKey: .name),
      parameters: values.decode([String: Int].self, forKey: .parameters))
  }

  /// Its name and its parameters.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(
      Dictionary(uniqueKeysWithValues: parameters.map { ($0.name, $0.value) }),
      forKey: .parameters)
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
struct StrategyParameters {
  fileprivate var values: [String: Int]

  mutating func take(_ name: String, _ range: ClosedRange<Int>) throws(StrategyError) -> Int {
    guard let value = values.removeValue(forKey: name) else { throw .missing(name) }
    guard range.contains(value) else { throw .outOfRange(name, value) }
    return value
  }

  fileprivate func finish() throws(StrategyError) {
    if let name = values.keys.min() { throw .superfluous(name) }
  }
}

extension Policy.Strategy {
  /// Whether what is wanted no longer rests for a while, since it may be wanted again, or is cancelled at once.
  var pauses: Bool {
    switch self {
    case .weighted, .expectedWait: true
    case .plain, .standard, .endless, .thresholdFixed, .thresholdDynamic, .lazyTarget,
      .rangeController, .stages:
      false
    }
  }

  /// Whether it loads of a clip's start no more than most people watch.
  var limitsStarts: Bool { if case .expectedWait = self { true } else { false } }

  /// Whether it goes by where a fling will stop.
  var followsFlings: Bool {
    switch self {
    case .lazyTarget, .expectedWait: true
    case .plain, .weighted, .standard, .endless, .thresholdFixed, .thresholdDynamic,
      .rangeController, .stages:
      false
    }
  }

  /// The share of measured bandwidths that are below the one that it counts on, in percent.
  var quantilePercent: Int {
    if case .expectedWait(let tuning) = self { tuning.quantilePercent } else { 50 }
  }
}
