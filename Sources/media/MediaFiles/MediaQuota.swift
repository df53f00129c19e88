import System

/// A limit for the total size of the files below a media root, including uploads in progress.
///
/// The files are counted on first use and again after `recountMilliseconds`, because other programs may add
/// files, too. In between, the quota adds what is placed and subtracts what is removed.
package final class MediaQuota: Sendable {
  private struct State {
    /// The size of the files at the last count, plus those placed since.
    var usedBytes = 0
    /// The size reserved for uploads in progress.
    var reservedBytes = 0
    var countedMilliseconds: UInt64?
  }

  /// Longer for a bucket: its list takes one request per thousand objects.
  private var recountMilliseconds: UInt64 { storage.bucket == nil ? 60_000 : 3_600_000 }

  /// The maximum total size.
  package let limitBytes: Int
  private let storage: MediaStorage
  private let state: Monitor<State>

  /// Creates the quota of a storage.
  package init(_ storage: MediaStorage, limitBytes: Int) {
    self.storage = storage
    self.limitBytes = limitBytes
    state = Monitor(State())
  }

  /// Reserves bytes for a file; returns false if fewer are free.
  ///
  /// - Throws: `MediaError` if the files cannot be counted.
  package func reserve(_ bytes: Int) throws -> Bool {
    let now = MonotonicClock.milliseconds
    let isDue = state.withLock { state in
      guard let counted = state.countedMilliseconds, now - counted > recountMilliseconds else {
        return false
      }
      // Other threads use the previous count meanwhile.
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

  /// Releases reserved bytes.
  package func release(_ bytes: Int) { state.withLock { $0.reservedBytes -= bytes } }

  /// Records that a file of this size was placed; a negative number records a removal.
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
