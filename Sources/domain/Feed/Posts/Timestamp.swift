import CivilTime

/// An instant in UTC, with microsecond precision.
///
/// Reads and writes the internet date and time format, RFC 3339 section 5.6.
public struct Timestamp: Hashable, Comparable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z; negative before.
  public let microseconds: Int64

  /// Creates an instant from microseconds after 1970-01-01T00:00:00Z.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Whether the left instant is earlier.
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.microseconds < right.microseconds
  }
}

/// The reason why a text is not a time of RFC 3339.
public enum TimestampError: Error, Equatable, Sendable {
  /// The text does not have the form `2012-07-28T23:05:56Z`.
  case malformed
  /// A month, day, hour, minute, second or offset is out of its range.
  case outOfRange(String)
  /// A digit other than 0 after the ninth digit of the fraction: no supported clock has this precision.
  case tooPrecise
}

extension Timestamp {
  /// Parses `2012-07-28T23:05:56Z`, `2012-07-28T23:05:56.250+02:00`: any offset, up to nine digits of
  /// fraction and further zeros. The seventh to ninth digits, which .NET and Go write, are rounded down to
  /// the microsecond, before 1970 as after it.
  ///
  /// - Throws: `TimestampError`. A leap second (`:60`) is out of range: microseconds since 1970 cannot
  ///   distinguish it from the next second.
  public init(rfc3339 text: some StringProtocol) throws(TimestampError) {
    var scanner = DigitScanner(Array(text.utf8))
    let year = try scanner.number(digits: 4)
    try scanner.expect("-")
    let month = try scanner.number(digits: 2)
    try scanner.expect("-")
    let day = try scanner.number(digits: 2)
    try scanner.expect("T", or: "t")
    let hour = try scanner.number(digits: 2)
    try scanner.expect(":")
    let minute = try scanner.number(digits: 2)
    try scanner.expect(":")
    let second = try scanner.number(digits: 2)
    let fraction = try scanner.fractionMicroseconds()
    let offsetMinutes = try scanner.offsetMinutes()
    try scanner.expectEnd()

    guard (1...12).contains(month) else { throw .outOfRange("month \(month)") }
    guard let days = CivilTime.daysSince1970(year: year, month: month, day: day) else {
      throw .outOfRange("day \(day)")
    }
    guard hour < 24 else { throw .outOfRange("hour \(hour)") }
    guard minute < 60 else { throw .outOfRange("minute \(minute)") }
    guard second < 60 else { throw .outOfRange("second \(second)") }

    let seconds = ((days * 24 + hour) * 60 + minute - offsetMinutes) * 60 + second
    self.init(microseconds: Int64(seconds) * 1_000_000 + Int64(fraction))
    guard (Self.earliest...Self.latest).contains(self) else { throw .outOfRange("year") }
  }

  /// 0000-01-01T00:00:00Z, the first instant that RFC 3339 can write.
  public static let earliest = Timestamp(microseconds: -62_167_219_200_000_000)
  /// 9999-12-31T23:59:59.999999Z, the last instant that RFC 3339 can write.
  public static let latest = Timestamp(microseconds: 253_402_300_799_999_999)

  /// `2012-07-28T23:05:56Z`, with a fraction of three or six digits if it is not zero. Only valid between
  /// `earliest` and `latest`.
  public var rfc3339: String {
    String(decoding: rfc3339UTF8, as: UTF8.self)
  }

  /// The bytes of `rfc3339`, all ASCII.
  public var rfc3339UTF8: [UInt8] {
    [UInt8](capacity: Self.rfc3339Bytes) { appendRFC3339(to: &$0) }
  }

  /// The maximum number of bytes of `rfc3339`.
  public static let rfc3339Bytes = 27

  /// Appends the bytes of `rfc3339`.
  public func appendRFC3339(to text: inout OutputSpan<UInt8>) {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    // Rounded down, so that an instant before 1970 falls into its second.
    let fraction = Int(remainder < 0 ? remainder + 1_000_000 : remainder)
    let seconds = Int(remainder < 0 ? quotient - 1 : quotient)

    CivilTime(secondsSince1970: seconds).append(to: &text)
    if fraction != 0 {
      text.append(UInt8(ascii: "."))
      var divisor = 100_000
      while divisor >= (fraction % 1000 == 0 ? 1000 : 1) {
        text.append(UInt8(ascii: "0") + UInt8(fraction / divisor % 10))
        divisor /= 10
      }
    }
    text.append(UInt8(ascii: "Z"))
  }
}

/// A scanner for the fixed-width fields of a time.
private struct DigitScanner {
  let bytes: [UInt8]
  var position = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var next: UInt8? {
    position < bytes.count ? bytes[position] : nil
  }

  mutating func number(digits: Int) throws(TimestampError) -> Int {
    var value = 0
    for _ in 0..<digits {
      guard let byte = next, byte >= 48, byte <= 57 else { throw .malformed }
      value = value * 10 + Int(byte - 48)
      position += 1
    }
    return value
  }

  mutating func expect(_ scalar: Unicode.Scalar, or other: Unicode.Scalar? = nil)
    throws(TimestampError)
  {
    guard let byte = next,
      byte == UInt8(ascii: scalar) || other.map({ UInt8(ascii: $0) }) == byte
    else { throw .malformed }
    position += 1
  }

  func expectEnd() throws(TimestampError) {
    guard position == bytes.count else { throw .malformed }
  }

  mutating func fractionMicroseconds() throws(TimestampError) -> Int {
    guard next == UInt8(ascii: ".") else { return 0 }
    position += 1
    var value = 0
    var digits = 0
    while let byte = next, byte >= 48, byte <= 57 {
      position += 1
      digits += 1
      if digits <= 6 {
        value = value * 10 + Int(byte - 48)
      } else if digits > 9, byte != 48 {
        throw .tooPrecise
      }
    }
    guard digits > 0 else { throw .malformed }
    while digits < 6 {
      value *= 10
      digits += 1
    }
    return value
  }

  mutating func offsetMinutes() throws(TimestampError) -> Int {
    guard let byte = next else { throw .malformed }
    position += 1
    switch byte {
    case UInt8(ascii: "Z"), UInt8(ascii: "z"): return 0
    case UInt8(ascii: "+"), UInt8(ascii: "-"):
      let hours = try number(digits: 2)
      try expect(":")
      let minutes = try number(digits: 2)
      guard hours < 24, minutes < 60 else { throw .outOfRange("offset") }
      return (byte == UInt8(ascii: "-") ? -1 : 1) * (hours * 60 + minutes)
    default: throw .malformed
    }
  }
}
