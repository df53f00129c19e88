/// The result so far of a comparison of two numbers. Less is better: loaders, waits, bytes.
package enum Verdict: String, CaseIterable, Hashable, Sendable {
  /// The first is less than the second.
  case better
  /// The first is more than the second.
  case worse
  /// The difference is within the margin.
  case equivalent
  /// More data is needed.
  case undecided
}
