/// The headers of MPEG sound frames.
enum MPEGFrame {
  /// Kilobits per second by the header's four bits: MPEG 1, then MPEG 2 and 2.5 (ISO/IEC 11172-3
  /// section 2.4.2.3, ISO/IEC 13818-3 section 2.4.2.3). 0 is for those that are free or not allowed.
  private static let layer3Kilobits = [
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
  ]
  /// Samples per second of MPEG 1, by the header's two bits; MPEG 2 has half, MPEG 2.5 a quarter.
  private static let samplesPerSecond = [44_100, 48_000, 32_000]

  /// The length of the MP3 frame at `offset`; nil if there is none (WHATWG MIME Sniffing section
  /// 6.2.3).
  static func layer3Bytes(_ head: MediaHead, _ offset: Int) -> Int? {
    guard let header = head.number(at: offset, width: 4).map(Int.init),
      header >> 21 == 0x7ff, header >> 17 & 3 == 1
    else { return nil }
    let version = header >> 19 & 3
    let rate = header >> 10 & 3
    guard version != 1, rate != 3 else { return nil }
    let isFirst = version == 3
    let kilobits = layer3Kilobits[isFirst ? 0 : 1][header >> 12 & 15]
    guard kilobits > 0 else { return nil }
    let samples = samplesPerSecond[rate] / (isFirst ? 1 : version == 2 ? 2 : 4)
    return (isFirst ? 144 : 72) * kilobits * 1000 / samples + (header >> 9 & 1)
  }

  /// The length of the AAC frame with an ADTS header at `offset`; nil if there is none (ISO/IEC
  /// 13818-7 section 6.2).
  static func adtsBytes(_ head: MediaHead, _ offset: Int) -> Int? {
    guard let header = head.number(at: offset, width: 7).map(Int.init),
      header >> 44 == 0xfff, header >> 41 & 3 == 0, header >> 34 & 15 <= 12
    else { return nil }
    let bytes = header >> 13 & 0x1fff
    let hasChecksum = header >> 40 & 1 == 0
    return bytes >= (hasChecksum ? 9 : 7) ? bytes : nil
  }
}
