import Feed
import JSON
import Prefetch

/// What a tuning of a part came to, as `lookahead tune --format json` says it to the server that asked.
package struct TuningAnswer: Hashable, Sendable {
  /// The feed.
  @ByBytes package private(set) var feed: String
  /// The network of the experiment; nil for all.
  @ByBytes package private(set) var network: String?
  /// What is to be tried, as `--against` takes it; nil where nothing is better than the policy in force.
  package let against: String?
  /// When an experiment on it is decided.
  package let limits: ExperimentLimits
  /// What was found, in a sentence.
  package let reason: String
  /// What the lab expects of it; of the policy in force twice where nothing is better.
  package let expected: LabExpectation

  /// An answer of these.
  package init(
    feed: String, network: String?, against: String?, limits: ExperimentLimits, reason: String,
    expected: LabExpectation
  ) {
    self.against = against
    self.limits = limits
    self.reason = reason
    self.expected = expected
    self.feed = feed
    self.network = network
  }

  /// The trial of it.
  ///
  /// - Parameter inForce: the policy in force, which is kept where nothing is better.
  /// - Throws: `StrategyError`.
  package func trial(inForce: Policy) throws(StrategyError) -> NewTrial {
    NewTrial(
      feed: feed, network: network, setting: try against.map(Policy.init(text:)) ?? inForce,
      limits: limits, reason: reason, expected: expected)
  }
}

extension TuningAnswer {
  /// Several of them: an object.
  package static func json(_ answers: [TuningAnswer]) -> [UInt8] {
    var writer = JSONWriter(capacity: 1_024)
    writer.object { writer in
      writer.key("tunings")
      writer.array { writer in
        for answer in answers {
          writer.object { writer in
            writer.member("feed", answer.feed)
            writer.member("network", answer.network)
            writer.member("against", answer.against)
            writer.member("share", answer.limits.sharePermille / 10)
            writer.member("margin", answer.limits.marginPercent)
            writer.member("days", answer.limits.days)
            writer.member("reason", answer.reason)
            writer.key("expected")
            writer.expectation(answer.expected)
          }
        }
      }
    }
    return writer.bytes
  }

  /// Those that an object has; nil where it is no such.
  package static func answers(json: [UInt8]) -> [TuningAnswer]? {
    guard let list = try? JSONDocument(json, depthLimit: 8).root.member("tunings"),
      list.kind == .array
    else { return nil }
    var answers: [TuningAnswer] = []
    for value in list.elements {
      guard let feed = value.member("feed")?.text, let reason = value.member("reason")?.text,
        let share = value.member("share")?.wholeNumber, (1...50).contains(share),
        let margin = value.member("margin")?.wholeNumber,
        ExperimentLimits.margins.contains(margin),
        let days = value.member("days")?.wholeNumber, ExperimentLimits.dayRange.contains(days),
        let expected = value.member("expected").flatMap(LabExpectation.init(json:))
      else { return nil }
      var limits = ExperimentLimits()
      (limits.sharePermille, limits.marginPercent, limits.days) = (10 * share, margin, days)
      answers.append(
        TuningAnswer(
          feed: feed, network: value.member("network")?.text,
          against: value.member("against")?.text, limits: limits, reason: reason,
          expected: expected))
    }
    return answers
  }
}

extension LabExpectation {
  /// What `JSONWriter.expectation` wrote; nil where it is no such.
  fileprivate init?(json: JSONValue) {
    func pair(_ name: String) -> (a: Double, b: Double)? {
      guard let numbers = json.member(name)?.elements.compactMap(\.number), numbers.count == 2
      else { return nil }
      return (numbers[0], numbers[1])
    }
    guard let loaders = pair("loadersPer1000"), let kilobytes = pair("kilobytesPerItem") else {
      return nil
    }
    self.init(loadersPerThousand: loaders, kilobytes: kilobytes)
  }
}

extension JSONWriter {
  /// What the lab expects: an object, of each figure that of the policy in force and of the other one.
  mutating func expectation(_ expected: LabExpectation) {
    object { writer in
      func pair(_ name: StaticString, _ values: (a: Double, b: Double)) {
        writer.key(name)
        writer.array { writer in
          for value in [values.a, values.b] { writer.number((value * 100).rounded() / 100) }
        }
      }
      pair("loadersPer1000", expected.loadersPerThousand)
      pair("kilobytesPerItem", expected.kilobytes)
    }
  }
}
