import CivilTime

extension LineWriter {
  /// A time as RFC 3339 has it (section 5.6), UTC, with milliseconds: `2026-11-21T05:19:46.123Z`.
  ///
  /// Nanoseconds in 64 bits reach from the year 1677 to 2262.
  mutating func time(_ nanosecondsSince1970: Int) {
    let (quotient, remainder) = nanosecondsSince1970.quotientAndRemainder(dividingBy: 1_000_000_000)
    // Rounded down, so that a moment before 1970 falls into its second.
    let seconds = remainder < 0 ? quotient - 1 : quotient
    let nanoseconds = remainder < 0 ? remainder + 1_000_000_000 : remainder
    let civilTime = CivilTime(secondsSince1970: seconds)
    append(atMost: CivilTime.textBytes + 5) { output in
      civilTime.append(to: &output)
      output.append(UInt8(ascii: "."))
      output.append(nanoseconds / 1_000_000, digits: 3)
      output.append(UInt8(ascii: "Z"))
    }
  }
}
