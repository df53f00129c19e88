import JSON
import Seeding

/// The refused records of an import that its answer tells one by one: so many, and so many bytes, at the
/// most, however much of the records their problems quote. The others are only counted.
struct RefusalList {
  /// How many are told.
  static let maximumCount = 100
  /// How much of one problem is told.
  static let problemBytes = 500
  /// How many bytes the problems have together; the one that goes beyond is the last.
  static let maximumBytes = 16_384

  private var refusals: [(line: Int, problem: String)] = []
  private var bytes = 0

  mutating func note(_ problem: SeedProblem) {
    guard refusals.count < Self.maximumCount, bytes < Self.maximumBytes else { return }
    let text = problem.problem.shortened(toBytes: Self.problemBytes)
    bytes += text.utf8.count
    refusals.append((problem.line, text))
  }

  /// As a JSON array.
  func write(to writer: inout JSONWriter) {
    writer.array { writer in
      for refusal in refusals {
        writer.object { writer in
          writer.member("line", refusal.line)
          writer.member("problem", refusal.problem)
        }
      }
    }
  }
}
