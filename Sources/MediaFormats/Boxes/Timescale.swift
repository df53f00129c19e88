/// Ticks in a second.
struct Timescale: Hashable {
  let ticksPerSecond: UInt32

  /// The next four bytes, which may not be 0.
  init(_ fields: inout FieldReader) throws {
    ticksPerSecond = try fields.unsigned32()
    guard ticksPerSecond > 0 else { throw fields.malformed("its timescale is 0 ticks a second") }
  }

  init(ticksPerSecond: UInt32) {
    precondition(ticksPerSecond > 0)
    self.ticksPerSecond = ticksPerSecond
  }

  /// So many ticks in microseconds, rounded down; nil where that is no number that is counted with.
  func microseconds(_ ticks: Int64) -> Int64? {
    Self.scaled(ticks, by: 1_000_000, over: Int64(ticksPerSecond))
  }

  /// So many ticks in another timescale's, rounded down.
  func ticks(_ ticks: Int64, in other: Timescale) -> Int64? {
    Self.scaled(ticks, by: Int64(other.ticksPerSecond), over: Int64(ticksPerSecond))
  }

  /// `value · factor / divisor`, rounded down; nil where it is beyond 2^60. Both are above 0.
  private static func scaled(_ value: Int64, by factor: Int64, over divisor: Int64) -> Int64? {
    let product = value.magnitude.multipliedFullWidth(by: UInt64(factor))
    guard product.high < UInt64(divisor) else { return nil }
    let (quotient, remainder) = UInt64(divisor).dividingFullWidth(product)
    guard quotient < 1 << 60 else { return nil }
    return value < 0 ? -Int64(quotient) - (remainder > 0 ? 1 : 0) : Int64(quotient)
  }
}
