extension JSONValue {
  /// The JSON of this value after a merge patch (RFC 7396 section 2).
  ///
  /// An object's members are changed one by one: those that the patch has as `null` go, those that it has
  /// otherwise are patched in their turn, all others stay as they are, to the byte. A list, or anything else that
  /// is no object, takes the place of the whole.
  public func patched(with patch: JSONValue) -> [UInt8] {
    var writer = JSONWriter(capacity: byteRange.count + patch.byteRange.count)
    writer.value(self, patchedWith: patch)
    return writer.bytes
  }
}

extension JSONWriter {
  /// - Parameter target: nil where there is nothing yet.
  fileprivate mutating func value(_ target: JSONValue?, patchedWith patch: JSONValue) {
    guard patch.kind == .object else { return raw(patch.source) }
    object { writer in
      if let target {
        for member in target.members {
          let change = patch.member(member.name)
          if change?.kind == .null { continue }
          writer.key(text: member.name)
          if let change {
            writer.value(member.value, patchedWith: change)
          } else {
            writer.raw(member.value.source)
          }
        }
      }
      for change in patch.members where change.value.kind != .null {
        if target?.member(change.name) != nil { continue }
        writer.key(text: change.name)
        writer.value(nil, patchedWith: change.value)
      }
    }
  }
}

extension JSONValue {
  /// The bytes that it is written in.
  fileprivate var source: ArraySlice<UInt8> {
    let range = byteRange
    return kind == .text
      ? document.bytes[range.lowerBound - 1...range.upperBound] : document.bytes[range]
  }
}
