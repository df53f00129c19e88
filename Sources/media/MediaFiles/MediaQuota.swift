import System

/// How many bytes the files below a media root may have together, those that are on their way counted in.
///
/// What there is, is counted when it is first asked for, and again when that was long ago: other programs may add
/// files, too. In between what is placed and removed here is added up.
package final class MediaQuota: Sendable {
  private struct State {
    /// What the files had when they were counted, and what came of those that were placed since.
    var usedBytes = 0
    /// What is on its way.
    var reservedBytes = 0
    var countedMilliseconds: UInt64?
  }

  private static let recountMilliseconds: UInt64 = 60_000

  /// How many bytes.
  package let limitBytes: Int
  private let root: MediaRoot
  private let state: Monitor<State>

  /// That of the files below this root.
  package init(_ root: MediaRoot, limitBytes: Int) {
    self.root = root
    self.limitBytes = limitBytes
    state = Monitor(State())
  }

  /// Sets bytes aside for a file; false where there are not so many.
  ///
  /// - Throws: `MediaError` where the files cannot be counted.
  package func reserve(_ bytes: Int) throws -> Bool {
    try state.withLock { state throws(MediaError) -> Bool in
      let now = MonotonicClock.milliseconds
      if state.countedMilliseconds.map({ now - $0 > Self.recountMilliseconds }) ?? true {
        state.usedBytes = try count()
        state.countedMilliseconds = now
      }
      let (sum, overflow) = bytes.addingReportingOverflow(state.usedBytes + state.reservedBytes)
      guard !overflow, sum <= limitBytes else { return false }
      state.reservedBytes += bytes
      return true
    }
  }

  /// Gives back what was set aside.
  package func release(_ bytes: Int) { state.withLock { $0.reservedBytes -= bytes } }

  /// A file of this size was placed, or one of the negative of it removed.
  package func add(_ bytes: Int) { state.withLock { $0.usedBytes += bytes } }

  private func count() throws(MediaError) -> Int {
    var walk = try MediaWalk(root)
    var bytes = 0
    while let step = walk.next() {
      guard case .file(let segments) = step, let status = try? root.status(of: segments) else {
        continue
      }
      bytes = bytes.addingReportingOverflow(max(0, status.bytes)).partialValue
    }
    return bytes
  }
}
