/// How a policy chooses what is loaded: parameters, and what it remembers from one event to the next.
///
/// A strategy reads the facts and lists what it wants, in order. The engine turns that into ranges of files, and the
/// `Reconciler` begins and stops transfers within the limits. So a strategy cannot break an invariant.
///
/// A new strategy is a file with a type that conforms, a line in `Policy.Strategy.types`, and a migration by which databases
/// accept it.
protocol PrefetchStrategy: Sendable, Equatable, Codable {
  typealias Parameter = StrategyParameter<Self>

  /// What policies call it.
  static var name: String { get }
  /// Its parameters in the order in which they are shown.
  static var parameterList: [Parameter] { get }
  /// The strategy with its usual parameters.
  init()

  /// How many items below the active one may load, 100 at the most. The plan in a page has these in their order, without
  /// asking for wants.
  var leading: Int { get }
  /// The weights of the inactive items that load at once add up to no more than this; each counts as one
  /// where their weights do not matter.
  var maxCost: Int { get }
  /// Whether items of these weights together may load at once.
  func allows(cost: Int) -> Bool
  /// Whether a page's plan ends at the first item that the link would bring after its turn.
  var plansWhatComesInTime: Bool { get }
  /// The index within a page of this many items at which the next one is asked for; `nil` for the policy's.
  func nextPageIndex(count: Int) -> Int?

  /// How it stops transfers that it no longer wants.
  var stopping: StoppingRule { get }
  /// Whether it loads of a clip's start no more than most people watch.
  var limitsStarts: Bool { get }
  /// Whether it goes by where a fling will stop.
  var followsFlings: Bool { get }
  /// Whether each piece that arrives may change what it wants, and not only starts and ends.
  var decidesWithEachPiece: Bool { get }
  /// The share of measured bandwidths that are below the one that it counts on, in percent.
  var quantilePercent: Int { get }

  /// An engine with these settings begins.
  mutating func begin(_ facts: EngineFacts)
  /// Which of their files the next items load from now on; `nil` leaves it as it is.
  mutating func chooseVariants(_ facts: EngineFacts, active: Int) -> VariantLevel?
  /// What is wanted, in order, and when it is to be asked again at the latest.
  mutating func wants(_ facts: EngineFacts, active: Int, _ wake: inout Wake) -> [Want]
  /// Whether the active item is passed, and nothing of it is loaded: in a fling that stops elsewhere.
  func passesActive(_ facts: EngineFacts) -> Bool
  /// Adds what is wanted beside the active item, in order.
  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want])
  /// Why the next page is asked for now, if it is. At the end of the list it always is.
  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason?
  /// How many items ahead of the active one are decoded.
  func decodedAheadItems(_ facts: EngineFacts) -> Int
}

/// What a strategy does that says nothing else: the active item first, and what it adds to that.
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

/// How a strategy stops transfers that it no longer wants.
struct StoppingRule {
  /// It pauses a transfer whose item may soon be wanted again, instead of cancelling it.
  var pauses = false
  /// It lets a transfer finish whose item has left the window, as platforms do.
  var finishesBegun = false
  /// It lets a transfer finish whose last bytes arrive within a round trip.
  var finishesWithinRoundTrip = false
  /// The active item's urgency is the reason for what it stops meanwhile.
  var yieldsToActive = false
}

/// The quality of the next items' files: 0 is the original's, and each further one a smaller variant.
struct VariantLevel {
  let level: Int
  let positions: [Int]
  /// The active item's, if it is another.
  var activeLevel: Int?
  /// Whether clips of which something was loaded may go on with chunks of another file.
  var switches = false
}

/// A parameter of a strategy: its name, what it may be, and where it is kept.
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
  /// How items are chosen: a name, and the parameters that this name has.
  public struct Strategy: Sendable {
    /// All that there are, in the order in which they are shown.
    private static let types: [any PrefetchStrategy.Type] = [
      PlainStrategy.self, WeightedStrategy.self, StandardStrategy.self, EndlessStrategy.self,
      FixedThresholdStrategy.self, DynamicThresholdStrategy.self, LazyTargetStrategy.self,
      RangeTuning.self, StageTuning.self, PreloadManagerStrategy.self, FixedPreloadStrategy.self,
      NoSaveStrategy.self, TikTokStrategy.self, DashletStrategy.self, PDASStrategy.self,
      ExpectedWaitStrategy.self,
    ]

    /// Every strategy, with its usual parameters.
    public static let usual: [Strategy] = types.map { Strategy($0.init()) }

    /// What it does, as an engine begins with it.
    let kind: any PrefetchStrategy

    init(_ kind: any PrefetchStrategy) { self.kind = kind }

    /// The strategy of this name; a parameter that is left out has its usual value.
    ///
    /// - Throws: `StrategyError` where there is none, or it has no such parameter or value.
    public init(name: String, parameters: [String: Int] = [:]) throws(StrategyError) {
      guard let type = Self.types.first(where: { $0.name == name }) else { throw .unknown(name) }
      self.init(try type.made(of: parameters))
    }

    /// What it is called where policies are kept and shown.
    public var name: String { type(of: kind).name }
    /// Its parameters by their names, in the order of these.
    public var parameters: [(name: String, value: Int)] { kind.parameters }
    /// How many items below the active one may load.
    public var leading: Int { kind.leading }
    /// The weights of the inactive items that load at once add up to no more than this; each counts as one
    /// where their weights do not matter.
    public var maxCost: Int { kind.maxCost }
    /// Whether each piece that arrives may change what it wants, and not only starts and ends.
    package var decidesWithEachPiece: Bool { kind.decidesWithEachPiece }
  }
}

extension PrefetchStrategy {
  /// The strategy with these values; what they leave out has its usual value.
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

  /// Whether the other is the same, state and all.
  func isEqual(to other: any PrefetchStrategy) -> Bool { self == other as? Self }
}

extension Policy.Strategy: Hashable {
  /// Whether they are of the same name and parameters.
  public static func == (left: Self, right: Self) -> Bool { left.kind.isEqual(to: right.kind) }

  /// Adds the name and the parameters.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    for parameter in parameters { hasher.combine(parameter.value) }
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
  /// It has no such parameter.
  case superfluous(String)
  /// The parameter is outside of its range.
  case outOfRange(String, Int, allowed: ClosedRange<Int>)
  /// The parameters are no JSON object of whole numbers.
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
