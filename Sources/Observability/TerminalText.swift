extension String {
  /// The text with every character written as an escape that a terminal takes for a command, or that moves
  /// what stands around it: control characters (C0, DEL and C1), line and paragraph separators, and what
  /// overrides the direction of writing. A stranger's names can then do nothing but be read.
  ///
  /// - Parameter keepsLines: leaves line feeds as they are, in a text of several lines.
  public func escapedForTerminal(keepsLines: Bool = false) -> String {
    var text = self
    return text.withUTF8 { text in
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.count)
      var index = 0
      while index < text.count {
        let byte = text[index]
        let isKept = byte == UInt8(ascii: "\\") || (keepsLines && byte == UInt8(ascii: "\n"))
        if !isKept, let escape = Escape(in: text, at: index, quoted: false) {
          escape.append(to: &bytes)
          index += escape.byteCount
        } else {
          bytes.append(byte)
          index += 1
        }
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
