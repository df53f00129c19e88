extension JSONValue {
  /// The JSON of this value after a merge patch (RFC 7396 section 2).
  ///
  /// An object's members change one by one: those that the patch has as `null` are removed, those that it has
  /// otherwise are patched in turn, and all others stay the same, byte for byte. A patch that is not an
  /// object replaces the whole value.
  public func patched(with patch: JSONValue) -> [UInt8] {
    var writer = JSONWriter(capacity: byteRange.count + patch.byteRange.count)
    writer.value(self, patchedWith: patch)
    return writer.bytes
  }
}

extension JSONWriter {
  /// - Parameter target: the value to patch; nil if there is none yet.
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
  /// The bytes of its JSON text, with the quotation marks of a text.
  fileprivate var source: ArraySlice<UInt8> {
    let range = byteRange
    return kind == .text
      ? document.bytes[range.lowerBound - 1...range.upperBound] : document.bytes[range]
  }
}
