import MediaFormats

/// What must hold of a file's type, whatever its first bytes are.
enum MediaProperties {
  private static let names = [
    "file", "a.jpg", "a.mp4", "a.m4a", "a.mov", "a.mkv", "a.weba", "a.oga", "a.ts", "a.m3u8",
    "a.html", "a.svg",
  ]

  /// What does not hold, as a sentence. The input's first byte chooses the file's name.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let type = MediaType(
      head: input.content, name: names[Int(input.choice) % names.count])
    if type.isPassive != (type != .unknown) { return "\(type) is passive or not" }
    if isMarkup(input.content), type.isPassive { return "markup is typed as \(type)" }
    for name in names where MediaType(head: input.content, name: name).isPassive != type.isPassive {
      return "the name \(name) decides whether the file is passive"
    }
    let padding = [UInt8](repeating: 0, count: max(0, MediaType.headBytes - input.content.count))
    let head = input.content + padding
    let more = head + [UInt8](repeating: 0x3c, count: 16)
    if MediaType(head: head, name: names[0]) != MediaType(head: more, name: names[0]) {
      return "bytes behind the head decide"
    }
    return nil
  }

  /// The first byte that is no mark and no white space is `<`.
  private static func isMarkup(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    for mark in [[0xef, 0xbb, 0xbf], [0xfe, 0xff], [0xff, 0xfe]] as [[UInt8]]
    where rest.starts(with: mark) {
      rest = rest.dropFirst(mark.count)
      break
    }
    return rest.first { !" \t\r\n\u{c}".utf8.contains($0) } == UInt8(ascii: "<")
  }
}
