/// Makes request ids: a random prefix for each event loop, then a counter. Fifteen characters at
/// most for the first 78 thousand million, which a `String` holds without an allocation.
struct RequestIDGenerator {
  private static let digits = Array("0123456789abcdefghijklmnopqrstuvwxyz".utf8)

  private let prefix: [UInt8]
  private var count: UInt64 = 0

  init() {
    prefix = (0..<8).map { _ in Self.digits[Int.random(in: 0..<32)] }
  }

  mutating func next() -> String {
    count += 1
    var number = count
    var width = 0
    while number > 0 {
      number /= 36
      width += 1
    }
    number = count
    return String(unsafeUninitializedCapacity: prefix.count + width) { bytes in
      // Every byte up to the count that is returned is written: the prefix, then the digits.
      for index in prefix.indices { bytes[index] = prefix[index] }
      for index in (0..<width).reversed() {
        bytes[prefix.count + index] = Self.digits[Int(number % 36)]
        number /= 36
      }
      return prefix.count + width
    }
  }
}
