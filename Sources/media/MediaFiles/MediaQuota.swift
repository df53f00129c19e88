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

  /// A list of a bucket takes a request for each thousand objects.
  private var recountMilliseconds: UInt64 { storage.bucket == nil ? 60_000 : 3_600_000 }

  /// How many bytes.
  package let limitBytes: Int
  private let storage: MediaStorage
  private let state: Monitor<State>

  /// That of these files.
  package init(_ storage: MediaStorage, limitBytes: Int) {
    self.storage = storage
    self.limitBytes = limitBytes
    state = Monitor(State())
  }

  /// Reserves bytes for a file; false where fewer are free.
  ///
  /// - Throws: `MediaError` where the files cannot be counted.
  package func reserve(_ bytes: Int) throws -> Bool {
    let now = MonotonicClock.milliseconds
    let isDue = state.withLock { state in
      guard let counted = state.countedMilliseconds, now - counted > recountMilliseconds else {
        return false
      }
      // Others go on by what was counted before.
      state.countedMilliseconds = now
      return true
    }
    if isDue {
      let used = try count()
      state.withLock { $0.usedBytes = used }
    }
    return try state.withLock { state throws(MediaError) -> Bool in
      if state.countedMilliseconds == nil {
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
    var files = try MediaListing(storage)
    var bytes = 0
    while let file = try files.next() {
      bytes = bytes.addingReportingOverflow(max(0, file.status.bytes)).partialValue
    }
    return bytes
  }
}
