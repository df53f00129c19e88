import Glibc

/// A system call that failed: which one, why, and for what.
public struct SystemError: Error, Sendable, Hashable {
  /// The C function's name.
  public let call: String
  /// `errno` as it was then.
  public let code: Int32
  /// What was to be done, for example `listen on 127.0.0.1:8080`.
  public let purpose: String

  /// An error with the current `errno`, or another one.
  public init(call: String, purpose: String, code: Int32 = errno) {
    self.call = call
    self.code = code
    self.purpose = purpose
  }

  /// Why, as the system says it: `Address already in use`.
  public var reason: String { String(cString: strerror(code)) }
}

extension SystemError: CustomStringConvertible {
  /// For example `cannot listen on 127.0.0.1:8080: Address already in use (bind)`.
  public var description: String { "cannot \(purpose): \(reason) (\(call))" }
}
