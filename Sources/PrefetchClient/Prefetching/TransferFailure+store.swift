import Prefetch

extension TransferFailure {
  /// What the engine makes of a store's error.
  init(_ error: RangeStoreError) {
    switch error {
    case .transport, .cancelled: self = .network
    case .status(let status, let milliseconds):
      self =
        status == 408 || status == 429 || status >= 500
        ? .busy(retryAfterMilliseconds: milliseconds) : .gone
    case .changed, .beyondEnd: self = .changed
    case .malformedAnswer, .notKept, .folderInUse, .system: self = .gone
    }
  }
}
