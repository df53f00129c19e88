import ArgumentParser
import Feed
import Foundation
import Lab
import Prefetch

/// Applies the result of a sweep as a feed's policy on a network, or undoes that.
struct LabApplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract:
      "Apply the setting that lab sweep found as a feed's policy on a network, or undo that.",
    discussion: """
      FILE is the output of lab sweep --format json. Its strategy and its weights of images and \
      videos replace those of the policy; the rest of the policy stays. The evidence is stored \
      with the policy, and /v1/networks shows it. Every server of the database applies the policy \
      with its next refresh. --undo restores the previous policy, repeatedly as long as there is \
      one.
      """)

  @Argument(help: "Output of lab sweep --format json; - is standard input.")
  var file: String?

  @Option(help: "Feed; default: all feeds without a policy of their own.")
  var feed: String?

  @Option(help: "Network profile.")
  var network: String

  @Flag(help: "Restore the policy from before the last setting was applied.")
  var undo = false

  @OptionGroup var options: DatabaseOptions

  mutating func validate() throws {
    guard undo != (file != nil) else {
      throw ValidationError("give either a FILE to apply or --undo")
    }
  }

  func run() throws {
    let setting = try file.map(Self.evidence)
    let store = try options.openExisting()
    defer { try? store.close() }
    if let setting {
      try store.apply(
        setting.policy, feed: feed, network: network, evidence: setting.json,
        at: Timestamp(microseconds: Int64(Date.now.timeIntervalSince1970 * 1e6)))
    } else {
      try store.undoPolicy(feed: feed, network: network)
    }
    try store.refresh()
    let book = try store.snapshot().policyBook
    guard let profile = book.networks.first(where: { $0.name.isSame(as: network) }) else { return }
    let policy = book.policy(feed: feed, network: profile)
    let whose = feed.map { "of the feed \($0)" } ?? "of all feeds without one of their own"
    print(
      """
      the policy \(whose) on \(network) is \(policy.name): \(policy.strategy.text), an image \
      counts \(policy.imageWeight), a video \(policy.videoWeight)
      """.escapedForTerminal())
  }

  private static func evidence(_ path: String) throws -> TuningEvidence {
    let content =
      path == "-"
      ? Array(try FileHandle.standardInput.readToEnd() ?? Data()) : try LabOptions.content(path)
    let evidence: TuningEvidence
    do throws(TuningEvidenceError) {
      evidence = try TuningEvidence(sweep: content)
    } catch {
      throw LabInputError(file: path, words: "\(error)")
    }
    guard evidence.isOther else {
      throw LabInputError(file: path, words: "nothing better than the current setting was found")
    }
    return evidence
  }
}
