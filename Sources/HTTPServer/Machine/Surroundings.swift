import HTTP

/// What the connections of one event loop are told with each step, and what they share: values, which
/// the loop keeps up to date.
struct Surroundings {
  let configuration: ServerConfiguration
  /// Whether somebody hears of the requests that were answered.
  let isObserved: Bool
  /// A clock that never goes back.
  var nowMilliseconds: UInt64
  /// The same clock, finer, as of when the bytes came that are at hand.
  var nowNanoseconds: UInt64 = 0
  /// The line of `Date`, with its end.
  var dateLine: [UInt8] = []
  var requestIDs = RequestIDGenerator()
  /// How much memory the answers of all these connections hold that their clients have not taken.
  var heldBytes = 0

  /// The moment so many milliseconds from now.
  func after(milliseconds: Int) -> UInt64 { nowMilliseconds + UInt64(milliseconds) }
}
