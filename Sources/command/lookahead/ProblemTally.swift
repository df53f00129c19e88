import Seeding

/// Counts problems of records by kind, so that the first few of a kind are shown and the rest are counted:
/// one mistake in a program makes a million bad records.
struct ProblemTally {
  /// The number of problems of a kind that are shown.
  static let shownOfKind = 20
  /// The number of kinds that are distinguished; all others count as one.
  private static let maximumKinds = 100

  private var kinds: [String: Int] = [:]
  private var order: [String] = []

  /// Counts a problem. Returns whether to show it.
  mutating func note(_ problem: SeedProblem) -> Bool {
    var kind = Self.kind(of: problem.problem)
    if kinds[kind] == nil {
      if order.count == Self.maximumKinds { kind = "other problems" }
      if kinds[kind] == nil { order.append(kind) }
    }
    kinds[kind, default: 0] += 1
    return kinds[kind, default: 0] <= Self.shownOfKind
  }

  /// A line for each kind with problems that were not shown.
  var rest: [String] {
    order.compactMap { kind in
      let count = kinds[kind, default: 0] - Self.shownOfKind
      return count > 0 ? "and \(count) more: \(kind)" : nil
    }
  }

  /// The kind of a problem: its text with quoted names as `…`, and numbers as `N`.
  static func kind(of problem: String) -> String {
    var kind = ""
    var isQuoted = false
    for character in problem.prefix(400) {
      if character == "\"" {
        kind += isQuoted ? "\"" : "\"…"
        isQuoted.toggle()
      } else if isQuoted {
        continue
      } else if character.isNumber {
        if kind.last != "N" { kind += "N" }
      } else {
        kind.append(character)
      }
    }
    return kind
  }
}
