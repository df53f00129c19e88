/// What shows in a picture's place until it is there: a blurred picture, a colour, or both.
public struct MediaPlaceholder: Hashable, Sendable {
  /// A colour without transparency, in sRGB.
  public struct Color: Hashable, Sendable {
    /// Red, 0…255.
    public let red: UInt8
    /// Green, 0…255.
    public let green: UInt8
    /// Blue, 0…255.
    public let blue: UInt8

    /// A colour of these parts.
    public init(red: UInt8, green: UInt8, blue: UInt8) {
      self.red = red
      self.green = green
      self.blue = blue
    }
  }

  /// How many bytes a ThumbHash has: five of a head, and four bits a coefficient.
  public static let thumbHashBytes = 5...25

  /// A blurred picture of it, as ThumbHash has it (https://evanw.github.io/thumbhash/).
  public var thumbHash: [UInt8]?
  /// What it looks like from far away.
  public var color: Color?

  /// A placeholder of these parts.
  public init(thumbHash: [UInt8]? = nil, color: Color? = nil) {
    self.thumbHash = thumbHash
    self.color = color
  }
}

extension MediaPlaceholder {
  /// Whether both are there, as for whoever has seen the picture.
  public var isWhole: Bool { thumbHash != nil && color != nil }
}

extension MediaPlaceholder.Color {
  /// As CSS has it, `#6b7a3d`.
  public var text: String {
    let digits = Array("0123456789abcdef")
    return "#"
      + String([red, green, blue].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// The colour that `text` writes so; `nil` for any other text.
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
