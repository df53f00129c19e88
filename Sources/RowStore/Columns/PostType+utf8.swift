import Feed

extension PostType {
  package init?(utf8: UnsafeBufferPointer<UInt8>) {
    // By their first letters, and two by their lengths.
    switch utf8.first {
    case UInt8(ascii: "i"): self = .image
    case UInt8(ascii: "v"): self = .video
    case UInt8(ascii: "c"): self = .carousel
    case UInt8(ascii: "w"): self = .webapp
    case UInt8(ascii: "a"): self = utf8.count == 2 ? .ad : .audio
    case UInt8(ascii: "t"): self = .text
    default: return nil
    }
    guard utf8.isSame(as: name) else { return nil }
  }
}

extension MediaKind {
  package init?(utf8: UnsafeBufferPointer<UInt8>) {
    switch utf8.first {
    case UInt8(ascii: "v"): self = .video
    case UInt8(ascii: "a"): self = .audio
    default: self = .image
    }
    guard utf8.isSame(as: name) else { return nil }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether these are the bytes of a short text: `elementsEqual` takes ten times as long for one.
  fileprivate func isSame(as text: StaticString) -> Bool {
    guard text.utf8CodeUnitCount == count else { return false }
    for index in indices where text.utf8Start[index] != self[index] { return false }
    return true
  }
}
