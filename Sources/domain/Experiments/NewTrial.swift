import Feed
import JSON
import Prefetch

/// A trial to begin.
package struct NewTrial: Hashable, Sendable {
  /// The feed of the policy; `nil` for all feeds without a policy of their own.
  @ByBytes package private(set) var feed: String?
  /// The network; `nil` for all.
  @ByBytes package private(set) var network: String?
  /// The policy of the arm `b`.
  package let setting: Policy
  /// The salt with which clients draw: letters and digits.
  package let salt: String
  /// The limits at which it is decided.
  package let limits: ExperimentLimits
  /// The reason to begin it, as a clause.
  package let reason: String
  /// The lab's expectation; `nil` if it was not simulated.
  package let expected: LabExpectation?

  /// Creates a trial.
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

  /// Returns eight random letters and digits.
  package static func randomSalt() -> String {
    let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789")
    return String((0..<8).map { _ in letters.randomElement()! })
  }
}

/// The lab's expectation of a policy and of the one in force, for viewers and places other than those by
/// which the policy was chosen.
package struct LabExpectation: Hashable, Sendable {
  /// The loaders per 1000 items.
  package let loadersPerThousand: (a: Double, b: Double)
  /// The kilobytes (1000 bytes) per item.
  package let kilobytes: (a: Double, b: Double)

  /// Creates the expectation of the policy in force (`a`) and of the other one (`b`).
  package init(loadersPerThousand: (a: Double, b: Double), kilobytes: (a: Double, b: Double)) {
    (self.loadersPerThousand, self.kilobytes) = (loadersPerThousand, kilobytes)
  }

  /// Whether the policy reduces loaders by more than this percentage.
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
  /// The evidence of the first step: a JSON object.
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

/// The reason why an operation on an experiment was refused.
package enum ExperimentError: Error, Hashable, Sendable {
  /// No feed has this name.
  case unknownFeed(String)
  /// No network has this name; `known` lists the names.
  case unknownNetwork(String, known: [String])
  /// No experiment has this number.
  case unknown(Int)
  /// Another experiment is running on the same sessions.
  case overlaps(Int)
  /// The experiment is not running.
  case isOver(Int)
  /// Another step was taken meanwhile.
  case hasMovedOn(Int)
  /// The experiment is not a suggestion that waits to begin.
  case notWaiting(Int)
  /// The experiment has no applied policy that is still in force.
  case nothingApplied(Int)
  /// The policy was changed since.
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
