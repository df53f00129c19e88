/// How a thread shares its core with others that want it (`sched_setattr(2)`).
///
/// Linux from 6.12 on (EEVDF) gives a core at once to the thread that wants it for the shorter time, unless
/// that has had more than its share; earlier ones know no such time. What a nicer thread takes counts for
/// more, so that it has had its share sooner: that holds for every release.
public enum Scheduling: Sendable {
  /// As the system chooses: slices of some milliseconds.
  case usual
  /// A slice of a tenth of a millisecond: for threads that wait most of the time and are waited for.
  case prompt
  /// For what takes long and is waited for by nobody: it gives way to the others. A slice of a tenth of a
  /// second, the longest that there is, and nice by 5, which is a third of the others' share of a core that
  /// all of them want at the same time.
  ///
  /// Such a thread should not yield: it would lose what is left of its slice (Linux 6.18).
  case background

  /// How long it works before another one gets its core; 0 for as the system chooses.
  public var sliceNanoseconds: UInt64 {
    switch self {
    case .usual: 0
    case .prompt: 100_000
    case .background: 100_000_000
    }
  }

  /// How nice it is at the least (`nice(2)`): threads that it starts are no less so.
  public var nice: Int32 {
    switch self {
    case .usual, .prompt: 0
    case .background: 5
    }
  }
}
