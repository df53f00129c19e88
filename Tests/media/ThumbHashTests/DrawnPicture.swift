/// Pictures that are formulas of whole numbers, so that another program can draw them, too.
enum DrawnPicture {
  static func rgba(_ name: String, _ width: Int, _ height: Int) -> [UInt8] {
    var rgba: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width { rgba += pixel(name, x, y, width, height) }
    }
    return rgba
  }

  private static func pixel(_ name: String, _ x: Int, _ y: Int, _ w: Int, _ h: Int) -> [UInt8] {
    switch name {
    case "flat": return [107, 122, 61, 255]
    case "black": return [0, 0, 0, 255]
    case "white": return [255, 255, 255, 255]
    case "clear": return [200, 100, 50, 0]
    case "faint": return [200, 100, 50, 128]
    case "across": return [UInt8(255 * x / w), 64, UInt8(255 - 255 * x / w), 255]
    case "down": return [UInt8(255 * y / h), UInt8(128 * y / h), 30, 255]
    case "checks": return (x >> 3 + y >> 3) & 1 == 1 ? [250, 240, 10, 255] : [5, 20, 200, 255]
    case "stripes":
      return [x % 2, y % 2, (x + y) % 2].map { UInt8($0 * 255) } + [255]
    case "fade": return [240, 80, 20, UInt8(255 * x / w)]
    case "hole":
      let (fromMiddleX, fromMiddleY) = (2 * x - w, 2 * y - h)
      return fromMiddleX * fromMiddleX + fromMiddleY * fromMiddleY < w * h / 2
        ? [9, 9, 9, 0] : [30, 200, 90, 255]
    case "noise", "cloud":
      var value = UInt32(truncatingIfNeeded: x + y * w + 1) &* 2_654_435_761
      value ^= value >> 15
      value = value &* 2_246_822_519
      let bytes = [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
      return name == "cloud" ? bytes : bytes.prefix(3) + [255]
    default: fatalError("no picture \(name)")
    }
  }
}
