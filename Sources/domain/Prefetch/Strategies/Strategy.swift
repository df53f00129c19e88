/// The way in which a policy chooses what to load: parameters, and a memory from one event to the next.
///
/// A strategy reads the facts and lists what it wants, in order. The engine turns that into ranges of files,
/// and the `Reconciler` begins and stops transfers within the limits. So a strategy cannot break an
/// invariant.
///
/// A new strategy needs a file with a type that conforms, a line in `Policy.Strategy.types`, and a migration
/// by which databases accept it.
protocol PrefetchStrategy: Sendable, Equatable, Codable {
  typealias Parameter = StrategyParameter<Self>

  /// The name in policies.
  static var name: String { get }
  /// The parameters, in the order in which they are shown.
  static var parameterList: [Parameter] { get }
  /// Creates the strategy with its default parameters.
  init()

  /// The number of items below the active one that may load, at most 100. A page's plan has these in order,
  /// without asking for wants.
  var leading: Int { get }
  /// The maximum sum of the weights of inactive items that load at once; each item counts as one if weights
  /// do not matter.
  var maxCost: Int { get }
  /// Whether items of this total weight may load at once.
  func allows(cost: Int) -> Bool
  /// Whether a page's plan ends at the first item that the link would bring after its turn.
  var plansWhatComesInTime: Bool { get }
  /// The index within a page of this many items at which to request the next one; `nil` for the policy's.
  func nextPageIndex(count: Int) -> Int?

  /// The rule for stopping transfers that the strategy no longer wants.
  var stopping: StoppingRule { get }
  /// Whether the strategy loads no more of a clip's start than most people watch.
  var limitsStarts: Bool { get }
  /// Whether the strategy considers where a fling will stop.
  var followsFlings: Bool { get }
  /// Whether each piece that arrives may change the wants, and not only starts and ends.
  var decidesWithEachPiece: Bool { get }
  /// The share of measured bandwidths below the one that the strategy relies on, in percent.
  var quantilePercent: Int { get }

  /// Prepares the strategy for a new engine.
  mutating func begin(_ facts: EngineFacts)
  /// The variants that the next items load from now on; `nil` leaves them unchanged.
  mutating func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel?
  /// The wants, in order; `wake` gets the latest time at which to ask again.
  mutating func wants(_ facts: EngineFacts, active: Int, _ wake: inout Wake) -> [Want]
  /// Whether the person is passing the active item, in a fling that stops elsewhere, so that nothing of it is
  /// loaded.
  func passesActive(_ facts: EngineFacts) -> Bool
  /// Adds the wants besides the active item, in order.
  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want])
  /// The reason for requesting the next page now, if any. At the end of the list it is always requested.
  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason?
  /// The number of items ahead of the active one to decode.
  func decodedAheadItems(_ facts: EngineFacts) -> Int
}

/// The defaults: the active item first, then what the strategy adds.
extension PrefetchStrategy {
  var maxCost: Int { leading }
  func allows(cost: Int) -> Bool { true }
  var plansWhatComesInTime: Bool { false }
  func nextPageIndex(count: Int) -> Int? { nil }
  var stopping: StoppingRule { StoppingRule() }
  var limitsStarts: Bool { false }
  var followsFlings: Bool { false }
  var decidesWithEachPiece: Bool { false }
  var quantilePercent: Int { 50 }

  func begin(_ facts: EngineFacts) {}
  func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel? { nil }
  func passesActive(_ facts: EngineFacts) -> Bool { false }
  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {}

  func wants(_ facts: EngineFacts, active: Int, _ wake: inout Wake) -> [Want] {
    var wants: [Want] = []
    wants.reserveCapacity(leading + 2)
    if !passesActive(facts) {
      wants.append(
        Want(position: active, amount: .entire, reason: .activeRest(missingBytes: nil)))
    }
    addWants(facts, active: active, to: &wants)
    return wants
  }

  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason? {
    let (list, newestCount) = (facts.list, facts.pages.newestCount)
    let index = facts.policy.nextPageIndex(
      count: newestCount, downlinkKbps: facts.network.downlinkKbps,
      roundTripMilliseconds: facts.network.roundTripMilliseconds, lossPercent: 0)
    let seen = active - list.first + 1
    return seen - 1 >= list.count - newestCount + index ? .itemsLeft(list.count - seen) : nil
  }

  func decodedAheadItems(_ facts: EngineFacts) -> Int { facts.settings.decodedAheadItems }
}

/// The rule by which a strategy stops transfers that it no longer wants.
struct StoppingRule {
  /// Whether to pause, rather than cancel, a transfer whose item may soon be wanted again.
  var pauses = false
  /// Whether to let a transfer finish whose item has left the window, as platforms do.
  var finishesBegun = false
  /// Whether to let a transfer finish whose last bytes arrive within a round trip.
  var finishesWithinRoundTrip = false
  /// Whether the reason for a stop is the active item's urgency, while that lasts.
  var yieldsToActive = false
}

/// The quality of the next items' files: 0 is the original, and each further level is a smaller variant.
struct VariantLevel {
  let level: Int
  let positions: [Int]
  /// The level of the active item, if it differs.
  var activeLevel: Int?
  /// Whether partly loaded clips may continue with chunks of another file.
  var switches = false
}

/// A parameter of a strategy: its name, its range, and where it is stored.
struct StrategyParameter<Strategy>: Sendable {
  let name: String
  let range: ClosedRange<Int>
  let path: WritableKeyPath<Strategy, Int> & Sendable

  init(
    _ name: String, _ range: ClosedRange<Int>, _ path: WritableKeyPath<Strategy, Int> & Sendable
  ) {
    (self.name, self.range, self.path) = (name, range, path)
  }
}

extension Policy {
  /// A strategy: a name, and the parameters of that name.
  public struct Strategy: Sendable {
    /// All strategies, in the order in which they are shown.
    private static let types: [any PrefetchStrategy.Type] = [
      PlainStrategy.self, WeightedStrategy.self, StandardStrategy.self, EndlessStrategy.self,
      FixedThresholdStrategy.self, DynamicThresholdStrategy.self, LazyTargetStrategy.self,
      RangeTuning.self, StageTuning.self, PreloadManagerStrategy.self, FixedPreloadStrategy.self,
      NoSaveStrategy.self, TikTokStrategy.self, DashletStrategy.self, PDASStrategy.self,
      ExpectedWaitStrategy.self,
    ]

    /// All strategies with their default parameters.
    public static let usual: [Strategy] = types.map { Strategy($0.init()) }

    /// The strategy's implementation, as an engine begins with it.
    let kind: any PrefetchStrategy
    /// `kind.limitsStarts`, which is read for each file: a copy of `kind` copies its futures.
    let limitsStarts: Bool

    init(_ kind: any PrefetchStrategy) {
      self.kind = kind
      limitsStarts = kind.limitsStarts
    }

    /// Creates the strategy of this name; omitted parameters have their defaults.
    ///
    /// - Throws: `StrategyError` if there is no such strategy, parameter or value.
    public init(name: String, parameters: [String: Int] = [:]) throws(StrategyError) {
      guard let type = Self.types.first(where: { $0.name == name }) else { throw .unknown(name) }
      self.init(try type.made(of: parameters))
    }

    /// The name by which policies are stored and shown.
    public var name: String { type(of: kind).name }
    /// The parameters by name, in the order in which they are shown.
    public var parameters: [(name: String, value: Int)] { kind.parameters }
    /// The number of items below the active one that may load.
    public var leading: Int { kind.leading }
    /// The maximum sum of the weights of inactive items that load at once; each item counts as one if weights
    /// do not matter.
    public var maxCost: Int { kind.maxCost }
    /// Whether each piece that arrives may change the wants, and not only starts and ends.
    package var decidesWithEachPiece: Bool { kind.decidesWithEachPiece }
  }
}

extension PrefetchStrategy {
  /// The strategy with these values; omitted parameters have their defaults.
  fileprivate static func made(of values: [String: Int]) throws(StrategyError) -> Self {
    var (strategy, rest) = (Self(), values)
    for parameter in parameterList {
      guard let value = rest.removeValue(forKey: parameter.name) else { continue }
      guard parameter.range.contains(value) else {
        throw .outOfRange(parameter.name, value, allowed: parameter.range)
      }
      strategy[keyPath: parameter.path] = value
    }
    if let name = rest.keys.min() { throw .superfluous(name) }
    return strategy
  }

  fileprivate var parameters: [(name: String, value: Int)] {
    Self.parameterList.map { ($0.name, self[keyPath: $0.path]) }
  }

  /// Whether the other strategy is the same, including its state.
  func isEqual(to other: any PrefetchStrategy) -> Bool { self == other as? Self }
}

extension Policy.Strategy: Hashable {
  /// Whether both have the same name and parameters.
  public static func == (left: Self, right: Self) -> Bool { left.kind.isEqual(to: right.kind) }

  /// Hashes the name and the parameters.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    for parameter in parameters { hasher.combine(parameter.value) }
  }
}

extension Policy.Strategy: Codable {
  private enum CodingKeys: CodingKey {
    case name, parameters
  }

  /// Decodes a strategy that `encode(to:)` wrote.
  public init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    try self.init(
      name: values.decode(String.self, forKey: .name),
      parameters: values.decode([String: Int].self, forKey: .parameters))
  }

  /// Encodes the name and the parameters.
  public func encode(to encoder: any Encoder) throws {
    var values = encoder.container(keyedBy: CodingKeys.self)
    try values.encode(name, forKey: .name)
    try values.encode(
      Dictionary(uniqueKeysWithValues: parameters.map { ($0.name, $0.value) }),
      forKey: .parameters)
  }
}

/// The reason why a name and its parameters are not a strategy.
public enum StrategyError: Error, Hashable, Sendable {
  /// There is no strategy of this name.
  case unknown(String)
  /// The strategy has no such parameter.
  case superfluous(String)
  /// The parameter is outside its range.
  case outOfRange(String, Int, allowed: ClosedRange<Int>)
  /// The parameters are not a JSON object of whole numbers.
  case unreadable
}

extension StrategyError: CustomStringConvertible {
  /// For example `the parameter "leading" cannot be 101, only 0…100`.
  public var description: String {
    switch self {
    case .unknown(let name):
      "there is no strategy \"\(name)\"; the known ones are "
        + Policy.Strategy.usual.map(\.name).joined(separator: ", ")
    case .superfluous(let name): "there is no parameter \"\(name)\""
    case .outOfRange(let name, let value, let allowed):
      "the parameter \"\(name)\" cannot be \(value), only \(allowed.lowerBound)…\(allowed.upperBound)"
    case .unreadable: "the parameters are not a JSON object of whole numbers"
    }
  }
}

/// A policy that this program does not understand.
public struct PolicyError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The feed; `nil` for the policy of all feeds that have none of their own.
  public let feed: String?
  /// The network profile.
  public let network: String
  /// The strategy's name as stored.
  public let strategy: String
  /// The error in the strategy.
  public let reason: StrategyError

  /// Creates an error in the policy of this feed on this network.
  public init(feed: String?, network: String, strategy: String, reason: StrategyError) {
    self.feed = feed
    self.network = network
    self.strategy = strategy
    self.reason = reason
  }

  /// A text that names the policy, its strategy, and the error.
  public var description: String {
    let whose = feed.map { "of the feed \"\($0)\"" } ?? "for all feeds"
    return
      "the policy \(whose) on the network \"\(network)\" has the strategy \"\(strategy)\": \(reason)"
  }
}
