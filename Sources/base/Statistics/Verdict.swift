/// What is known of two by now. Less is better: loaders, waits, bytes.
package enum Verdict: String, CaseIterable, Hashable, Sendable {
  /// The first is less than the second.
  case better
  /// It is more.
  case worse
  /// It is within the margin.
  case equivalent
  /// More has to be seen.
  case undecided
}
