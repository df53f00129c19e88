import JSON
import PostJSON
import Prefetch

/// The evidence for a setting: the measurements, their data, and the numbers with which they can be repeated.
package struct TuningEvidence: Sendable {
  /// The setting.
  package let policy: Policy
  /// Whether it is not the current setting.
  package let isOther: Bool
  /// The evidence as JSON, including the policy.
  package let json: [UInt8]

  /// The maximum number of named networks, each of tuning and of judging.
  private static let namedNetworks = 200
  /// The maximum size of the evidence in bytes.
  package static let byteLimit = 1 << 16

  /// Creates the evidence of a tuning.
  ///
  /// - Parameters:
  ///   - feed: the feed, in words.
  ///   - viewer: the viewers, in words.
  package init(
    _ tuning: Tuning, of experiment: Experiment, feed: String, viewer: String, margin: Double
  ) {
    var policy = experiment.contestants[tuning.contestant].policy
    policy.name = experiment.contestants[tuning.contestant].name
    self.policy = policy
    let isOther = tuning.isOther
    self.isOther = isOther
    let judged = tuning.judged
    var writer = JSONWriter(capacity: 2_048)
    writer.object { writer in
      writer.member("setting", tuning.tuned.contestants[tuning.winner])
      writer.key("isOther")
      writer.boolean(isOther)
      writer.key("policy")
      writer.policy(policy)
      writer.member("objective", tuning.objective.words)
      writer.member("measure", tuning.objective.measure.rawValue)
      writer.member("sentence", tuning.sentence(margin: margin))
      writer.array("judged") { writer in
        for place in 0..<(isOther ? 2 : 1) { writer.figures(judged, place) }
      }
      writer.array("frontier") { writer in
        for place in tuning.frontier { writer.figures(judged, place) }
      }
      if isOther {
        let network = judged.networks.count == 1 ? 0 : nil
        writer.member(
          "verdict",
          judged.comparison(1, on: network, tuning.objective.measure, margin: margin).verdict
            .rawValue)
      }
      writer.key("margin")
      writer.raw(fixed(margin, 1).utf8)
      writer.member("items", experiment.items)
      writer.member("repeats", experiment.repeats)
      writer.member("seed", Int(truncatingIfNeeded: experiment.seed))
      writer.member("tuningRuns", tuning.tuningRuns)
      writer.member("feed", feed)
      writer.member("viewer", viewer)
      writer.names("tunedOn", tuning.tuned.networks.prefix(Self.namedNetworks))
      writer.names("judgedOn", judged.networks.prefix(Self.namedNetworks))
      writer.object("heldBack") { writer in
        writer.names("networks", tuning.heldBack.networks.prefix(Self.namedNetworks))
        writer.member("feed", tuning.heldBack.feed.rawValue)
        writer.key("otherViewers")
        writer.boolean(tuning.heldBack.hasOtherViewers)
      }
    }
    json = writer.bytes
  }

  /// Reads the evidence that a sweep wrote: the member `evidence` of its JSON.
  ///
  /// - Throws: `TuningEvidenceError`.
  package init(sweep: [UInt8]) throws(TuningEvidenceError) {
    let document: JSONDocument
    do throws(JSONError) {
      document = try JSONDocument(sweep)
    } catch {
      throw .json(error)
    }
    guard let value = document.root.member("evidence"), value.kind == .object else {
      throw .missing("evidence")
    }
    guard value.byteRange.count <= Self.byteLimit else { throw .missing("evidence") }
    guard let policy = value.member("policy"), let name = policy.member("name")?.text,
      let strategy = policy.member("strategy")?.text,
      let weights = policy.member("weights"), let image = weights.weight("image"),
      let video = weights.weight("video"), let parameters = policy.member("parameters"),
      parameters.kind == .object
    else { throw .missing("policy") }
    var numbers: [String: Int] = [:]
    for member in parameters.members {
      guard let number = member.value.wholeNumber else { throw .missing("parameters") }
      numbers[member.name] = number
    }
    do throws(StrategyError) {
      self.policy = Policy(
        name: name, strategy: try Policy.Strategy(name: strategy, parameters: numbers),
        imageWeight: image, videoWeight: video)
    } catch {
      throw .strategy(error)
    }
    guard let isOther = value.member("isOther"), isOther.kind == .boolean else {
      throw .missing("isOther")
    }
    self.isOther = isOther.truth ?? false
    json = Array(sweep[value.byteRange])
  }
}

/// The reason why a file is not evidence.
package enum TuningEvidenceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is not JSON.
  case json(JSONError)
  /// This member is absent or invalid.
  case missing(String)
  /// This program does not have the strategy.
  case strategy(StrategyError)

  /// For example `"evidence" is missing or invalid: expected the output of lab sweep --format json`.
  package var description: String {
    switch self {
    case .json(let error): "the file is not JSON: \(error)"
    case .missing(let name):
      "\"\(name)\" is missing or invalid: expected the output of lab sweep --format json"
    case .strategy(let error): "\(error)"
    }
  }
}

extension JSONValue {
  fileprivate func weight(_ name: String) -> Int? {
    member(name)?.wholeNumber.flatMap { (0...1_000).contains($0) ? $0 : nil }
  }
}

extension JSONWriter {
  /// Writes the figures of one contestant over all networks.
  fileprivate mutating func figures(_ results: ExperimentResults, _ contestant: Int) {
    object { writer in
      writer.member("setting", results.contestants[contestant])
      for measure in RunFigures.Measure.allCases {
        writer.key(text: measure.rawValue)
        writer.raw(fixed(results.mean(contestant, measure), 3).utf8)
      }
      let network = results.networks.count == 1 ? 0 : nil
      let width = results.interval(contestant, on: network, .loaders).halfWidth
      guard width.isFinite else { return }
      writer.key("loadersHalfWidth")
      writer.raw(fixed(width, 3).utf8)
    }
  }

  fileprivate mutating func names(_ member: StaticString, _ names: some Sequence<String>) {
    key(member)
    array { writer in for name in names { writer.string(name) } }
  }
}
