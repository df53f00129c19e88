/// An answer that is in the output queue, where somebody wants to hear when it has left.
struct Departure {
  /// At which count of written bytes it begins, and at which it ends.
  let beginsAt: Int
  var endsAt: Int
  let startNanoseconds: UInt64
  var request: FinishedRequest
}
