import Feed
import JSON
import Prefetch
import Reports

extension PolicyOutcome {
  /// Returns the predictions in a book, one for each unchanged policy that the lab found. Evidence without
  /// loaders predicts nothing.
  public static func predictions(of book: PolicyBook) -> [PolicyOutcome] {
    book.found.compactMap { found in
      guard let lab = try? JSONDocument(found.evidence.json).root,
        let judged = lab.member("judged").map({ Array($0.elements) }),
        let figures = judged.last(where: {
          $0.member("setting")?.text?.isSame(as: found.policy.name) == true
        }) ?? judged.last,
        let loaders = figures.member("loaders")?.number, (0...1_000_000).contains(loaders)
      else { return nil }
      return PolicyOutcome(
        feed: found.key.feed, network: found.key.network, policy: found.policy.name,
        appliedAt: found.evidence.appliedAt, predictedPerThousand: loaders,
        predictedHalfWidth: figures.member("loadersHalfWidth")?.number.flatMap {
          (0...1_000_000).contains($0) ? $0 : nil
        }, otherFeeds: Set(found.otherFeeds.map(ByteText.init)))
    }
  }
}

extension JSONWriter {
  /// Writes the prediction and the outcome as an object; the caller writes the names of the policy.
  public mutating func outcome(_ outcome: PolicyOutcome) {
    func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
    object { writer in
      writer.member("words", outcome.words)
      writer.key("predictedPer1000")
      writer.number(rounded(outcome.predictedPerThousand))
      if let half = outcome.predictedHalfWidth {
        writer.key("predictedHalfWidth")
        writer.number(rounded(half))
      }
      writer.member("since", LiveReport.time(ofHour: outcome.sinceHour))
      guard let middle = outcome.met.loadersPerThousand else { return }
      writer.member("sessions", outcome.met.sessions)
      writer.key("metPer1000")
      writer.number(rounded(middle))
      guard let interval = outcome.met.intervalPerThousand, let verdict = outcome.verdict else {
        return
      }
      writer.array("interval") { writer in
        writer.number(rounded(interval.lowerBound))
        writer.number(rounded(interval.upperBound))
      }
      writer.member("verdict", verdict.rawValue)
    }
  }
}
