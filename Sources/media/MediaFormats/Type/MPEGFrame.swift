/// The header of an MPEG sound frame, with the frame's length in bytes and in samples.
struct MPEGFrame {
  let bytes: Int
  let samples: Int
  let samplesPerSecond: Int

  /// Kilobits per second by the header's four bits: MPEG 1, then MPEG 2 and 2.5 (ISO/IEC 11172-3 section
  /// 2.4.2.3, ISO/IEC 13818-3 section 2.4.2.3). 0 stands for the free format and for forbidden values.
  private static let layer3Kilobits = [
    [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0],
    [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0],
  ]
  /// Samples per second of MPEG 1, by the header's two bits; MPEG 2 has half, MPEG 2.5 a quarter.
  private static let layer3Rates = [44_100, 48_000, 32_000]
  /// Samples per second by the header's four bits (ISO/IEC 14496-3 section 1.6.3.4).
  private static let adtsRates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000,
    7350,
  ]

  /// The maximum length of a header.
  static let headerBytes = 7

  /// Reads the MP3 frame header at the start of the bytes; nil if there is none (WHATWG MIME
  /// Sniffing section 6.2.3).
  static func layer3(_ bytes: ArraySlice<UInt8>) -> MPEGFrame? {
    guard let header = number(bytes, 4), header >> 21 == 0x7ff, header >> 17 & 3 == 1 else {
      return nil
    }
    let version = header >> 19 & 3
    let rate = header >> 10 & 3
    guard version != 1, rate != 3 else { return nil }
    let isFirst = version == 3
    let kilobits = layer3Kilobits[isFirst ? 0 : 1][header >> 12 & 15]
    guard kilobits > 0 else { return nil }
    let samplesPerSecond = layer3Rates[rate] / (isFirst ? 1 : version == 2 ? 2 : 4)
    let padding = header >> 9 & 1
    return MPEGFrame(
      bytes: (isFirst ? 144 : 72) * kilobits * 1000 / samplesPerSecond + padding,
      samples: isFirst ? 1152 : 576, samplesPerSecond: samplesPerSecond)
  }

  /// Reads the ADTS header of an AAC frame at the start of the bytes; nil if there is none
  /// (ISO/IEC 13818-7 section 6.2).
  static func adts(_ bytes: ArraySlice<UInt8>) -> MPEGFrame? {
    guard let header = number(bytes, 7), header >> 44 == 0xfff, header >> 41 & 3 == 0 else {
      return nil
    }
    let rate = header >> 34 & 15
    guard rate < adtsRates.count else { return nil }
    let length = header >> 13 & 0x1fff
    let hasChecksum = header >> 40 & 1 == 0
    guard length >= (hasChecksum ? 9 : 7) else { return nil }
    return MPEGFrame(
      bytes: length, samples: 1024 * ((header & 3) + 1), samplesPerSecond: adtsRates[rate])
  }

  private static func number(_ bytes: ArraySlice<UInt8>, _ width: Int) -> Int? {
    bytes.count < width ? nil : bytes.prefix(width).reduce(0) { $0 << 8 | Int($1) }
  }
}
