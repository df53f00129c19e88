import JSON

/// A tuning as people and programs read it.
extension Tuning {
  /// Two tables, and between them what was found.
  public func table(margin: Double) -> String {
    tuned.table(margin: margin, of: .tuning) + "\n" + objective.words + "\n"
      + sentence(margin: margin) + "\n\n" + judged.table(margin: margin, of: .judging)
  }

  /// Every measure of every run; the first column says whether it was for tuning or for judging.
  public var csv: String {
    tuned.csv(of: .tuning) + judged.csv(of: .judging, hasHead: false)
  }

  /// What was found and on what it rests, and the means of all settings.
  public func json(_ evidence: TuningEvidence, margin: Double) -> [UInt8] {
    var writer = JSONWriter(capacity: 8_192)
    writer.object { writer in
      writer.key("evidence")
      writer.raw(evidence.json)
      writer.key("tuning")
      writer.raw(tuned.json(margin: margin))
      writer.key("judging")
      writer.raw(judged.json(margin: margin))
    }
    return writer.bytes
  }
}

/// What runs were for.
enum RunUse: String {
  case tuning, judging
}
