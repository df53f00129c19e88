/// A stand-in that a client shows until the picture has loaded: a blurred picture, a colour, or both.
public struct MediaPlaceholder: Hashable, Sendable {
  /// A colour without transparency, in sRGB.
  public struct Color: Hashable, Sendable {
    /// Red, 0…255.
    public let red: UInt8
    /// Green, 0…255.
    public let green: UInt8
    /// Blue, 0…255.
    public let blue: UInt8

    /// Creates a colour from its components.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
      self.red = red
      self.green = green
      self.blue = blue
    }
  }

  /// The number of bytes of a ThumbHash: five bytes of header, and four bits per coefficient.
  public static let thumbHashBytes = 5...25

  /// A blurred picture, as a ThumbHash (https://evanw.github.io/thumbhash/).
  public var thumbHash: [UInt8]?
  /// The average colour.
  public var color: Color?

  /// Creates a placeholder.
  public init(thumbHash: [UInt8]? = nil, color: Color? = nil) {
    self.thumbHash = thumbHash
    self.color = color
  }
}

extension MediaPlaceholder {
  /// Whether both parts are present, as they are after a probe.
  public var isWhole: Bool { thumbHash != nil && color != nil }
}

extension MediaPlaceholder.Color {
  /// The colour in CSS notation, `#6b7a3d`.
  public var text: String {
    let digits = Array("0123456789abcdef")
    return "#"
      + String([red, green, blue].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// Parses what `text` writes; `nil` for any other text.
  public init?(text: String) {
    guard text.utf8.count == 7, text.utf8.first == UInt8(ascii: "#"),
      text.utf8.dropFirst().allSatisfy({
        (0x30...0x39).contains($0) || (0x61...0x66).contains($0)
      }),
      let number = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    self.init(
      red: UInt8(number >> 16), green: UInt8(number >> 8 & 255), blue: UInt8(number & 255))
  }
}
