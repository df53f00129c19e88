/// Why a store cannot do now what it is asked, as far as whoever asks has to tell it apart.
public enum StoreFailureKind: Sendable {
  /// Others write, for longer than was waited.
  case busy
  /// As many writes wait as may.
  case tooManyWrites
  /// It was closed.
  case closed
  /// There is no room for more.
  case full
  /// What it stands on is not what was opened: nothing is written.
  case unavailable
  /// The program may not write to it: its rights do not allow that, or what it lies on.
  case readOnly
  /// The places that an import kept aside for its end are gone: it has to be sent again.
  case importDropped
  /// Anything else: it is the store's own fault, or whoever runs it has to mend it.
  case other
}

/// What a store says of its own failure. Its description is for whoever runs the store.
public protocol StoreFailure: Error {
  /// Why it cannot do now what it was asked.
  var kind: StoreFailureKind { get }
}
