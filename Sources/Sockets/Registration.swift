/// Names one registration at an event loop; a later one in the same slot has another generation.
///
/// It travels as the poll data of the descriptor, so that an event that was waiting when its
/// descriptor was closed never reaches the connection that got the same number.
public struct Registration: Sendable, Hashable {
  let slot: UInt32
  let generation: UInt32

  /// Names nothing.
  public static let none = Registration(slot: .max, generation: 0)

  init(slot: UInt32, generation: UInt32) {
    self.slot = slot
    self.generation = generation
  }

  init(pollData: UInt64) {
    slot = UInt32(truncatingIfNeeded: pollData)
    generation = UInt32(truncatingIfNeeded: pollData >> 32)
  }

  var pollData: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
}
