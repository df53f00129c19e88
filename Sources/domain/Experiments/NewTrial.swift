import Feed
import JSON
import Prefetch

/// A trial that is to begin.
package struct NewTrial: Hashable, Sendable {
  /// Whose policy it is on; `nil` for all feeds without a policy of their own.
  @ByBytes package private(set) var feed: String?
  /// On which network; `nil` for all.
  @ByBytes package private(set) var network: String?
  /// What the arm `b` loads by.
  package let setting: Policy
  /// What clients draw by: letters and digits.
  package let salt: String
  /// When it is decided.
  package let limits: ExperimentLimits
  /// Why it begins, as a clause.
  package let reason: String
  /// What the lab expects of it; nil where it was not in the lab.
  package let expected: LabExpectation?

  /// A trial of these.
  package init(
    feed: String?, network: String?, setting: Policy, salt: String = NewTrial.randomSalt(),
    limits: ExperimentLimits = ExperimentLimits(), reason: String, expected: LabExpectation? = nil
  ) {
    self.setting = setting
    self.salt = salt
    self.limits = limits
    self.reason = reason
    self.expected = expected
    self.feed = feed
    self.network = network
  }

  /// Eight letters and digits.
  package static func randomSalt() -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<8).map { _ in letters.randomElement()! })
  }
}

/// What the lab expects of a policy, beside the one in force: on viewers and at places that it was not chosen on.
package struct LabExpectation: Hashable, Sendable {
  /// Loaders of 1000 items.
  package let loadersPerThousand: (a: Double, b: Double)
  /// Kilobytes (1000 bytes) of an item.
  package let kilobytes: (a: Double, b: Double)

  /// What is expected of the policy in force (`a`), and of the other one.
  package init(loadersPerThousand: (a: Double, b: Double), kilobytes: (a: Double, b: Double)) {
    (self.loadersPerThousand, self.kilobytes) = (loadersPerThousand, kilobytes)
  }

  /// Whether the policy has fewer loaders by more than this percentage.
  package func isBetter(byPercent margin: Int) -> Bool {
    loadersPerThousand.b < loadersPerThousand.a * (1 - Double(margin) / 100)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.loadersPerThousand == right.loadersPerThousand && left.kilobytes == right.kilobytes
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(loadersPerThousand.a)
    hasher.combine(loadersPerThousand.b)
  }
}

extension NewTrial {
  /// The evidence of its first step: a JSON object.
  package var evidence: [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.object { writer in
      writer.member("reason", reason)
      guard let expected else { return }
      writer.key("expected")
      writer.expectation(expected)
    }
    return writer.bytes
  }
}

/// Why something is not done about an experiment.
package enum ExperimentError: Error, Hashable, Sendable {
  /// There is no feed of this name.
  case unknownFeed(String)
  /// There is no network of this name, but these.
  case unknownNetwork(String, known: [String])
  /// There is no experiment of this number.
  case unknown(Int)
  /// Another one on the same sessions runs.
  case overlaps(Int)
  /// It does not run.
  case isOver(Int)
  /// Another step was taken meanwhile.
  case hasMovedOn(Int)
  /// It is not one that waits for being begun.
  case notWaiting(Int)
  /// It has applied nothing that is not taken back.
  case nothingApplied(Int)
  /// The policy was written by somebody since.
  case changedSince
}

extension ExperimentError: CustomStringConvertible {
  /// For example `there is no experiment 7`.
  package var description: String {
    switch self {
    case .unknownFeed(let name): "there is no feed \"\(name)\""
    case .unknownNetwork(let name, let known):
      "there is no network \"\(name)\"; known networks: \(known.joined(separator: ", "))"
    case .unknown(let id): "there is no experiment \(id)"
    case .overlaps(let id): "experiment \(id) is running on the same sessions; stop it first"
    case .isOver(let id): "experiment \(id) is over"
    case .hasMovedOn(let id): "another step of experiment \(id) was taken meanwhile"
    case .notWaiting(let id): "experiment \(id) is not a waiting suggestion"
    case .nothingApplied(let id):
      "experiment \(id) has no applied policy to undo"
    case .changedSince: "the policy was changed since: it is no longer the applied one"
    }
  }
}
