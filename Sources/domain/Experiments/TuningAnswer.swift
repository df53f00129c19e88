import Feed
import JSON
import Prefetch

/// The result of tuning a part, in the form in which `lookahead tune --format json` returns it to the
/// server.
package struct TuningAnswer: Hashable, Sendable {
  /// The feed.
  @ByBytes package private(set) var feed: String
  /// The network of the experiment; `nil` for all.
  @ByBytes package private(set) var network: String?
  /// The policy to try, in the form of `--against`; `nil` if nothing is better than the policy in force.
  package let against: String?
  /// The limits at which an experiment on it is decided.
  package let limits: ExperimentLimits
  /// The result, in a sentence.
  package let reason: String
  /// The lab's expectation; if nothing is better, both values are those of the policy in force.
  package let expected: LabExpectation

  /// Creates a result.
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

  /// Returns the trial of the result.
  ///
  /// - Parameter inForce: The policy in force, which is kept if nothing is better.
  /// - Throws: `StrategyError`.
  package func trial(inForce: Policy) throws(StrategyError) -> NewTrial {
    NewTrial(
      feed: feed, network: network, setting: try against.map(Policy.init(text:)) ?? inForce,
      limits: limits, reason: reason, expected: expected)
  }
}

extension TuningAnswer {
  /// Returns several results as an object.
  package static func json(_ answers: [TuningAnswer]) -> [UInt8] {
    var writer = JSONWriter(capacity: 1_024)
    writer.object { writer in
      writer.array("tunings") { writer in
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

  /// Decodes the results in an object; `nil` if it is invalid.
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
  /// Decodes what `JSONWriter.expectation` writes; `nil` if it is invalid.
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
  /// Writes an expectation as an object: each figure of the policy in force and of the other one.
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
