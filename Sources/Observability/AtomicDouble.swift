import Synchronization

/// A number that threads add to without a lock: the bits of a double in an atomic word.
struct AtomicDouble: ~Copyable, Sendable {
  private let bits = Atomic<UInt64>(Double.zero.bitPattern)

  var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }

  func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }

  /// Adds, and tries again where another thread came between.
  func add(_ amount: Double) {
    var seen = bits.load(ordering: .relaxed)
    while true {
      let sum = Double(bitPattern: seen) + amount
      let attempt = bits.weakCompareExchange(
        expected: seen, desired: sum.bitPattern, ordering: .relaxed)
      if attempt.exchanged { return }
      seen = attempt.original
    }
  }
}
