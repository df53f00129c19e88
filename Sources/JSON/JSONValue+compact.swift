extension JSONValue {
  /// Its JSON as it stands in the text, but for the white space between its tokens: members in their order,
  /// numbers and texts as they are written.
  public var compactJSON: [UInt8] {
    // Of a text, its range is between the quotation marks.
    let range = kind == .text ? byteRange.lowerBound - 1..<byteRange.upperBound + 1 : byteRange
    var json: [UInt8] = []
    json.reserveCapacity(range.count)
    var isInText = false
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = document.bytes[index]
      index += 1
      if isInText {
        json.append(byte)
        if byte == UInt8(ascii: "\\") {
          // What is escaped ends no text.
          json.append(document.bytes[index])
          index += 1
        } else if byte == UInt8(ascii: "\"") {
          isInText = false
        }
      } else if byte > 0x20 {
        json.append(byte)
        isInText = byte == UInt8(ascii: "\"")
      }
    }
    return json
  }

  /// How deep lists and objects stand in each other in it, itself counted; 0 of what is neither.
  public var depth: Int {
    // Brackets stand in texts, too: the nodes know which are some. Each ends before what is beside it.
    var (depth, open) = (0, [Int]())
    var position = index
    let end = max(Int(document.nodes[index].next), index + 1)
    while position < end {
      while let last = open.last, last <= position { open.removeLast() }
      let node = document.nodes[position]
      if node.kind == .object || node.kind == .array {
        open.append(Int(node.next))
        depth = max(depth, open.count)
      }
      position += 1
    }
    return depth
  }
}
