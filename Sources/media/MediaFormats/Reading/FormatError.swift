/// Why there is nothing to say about a file: what is wrong with it, and where.
package struct FormatError: Error, Hashable, Sendable {
  /// What is wrong.
  package enum Reason: Hashable, Sendable {
    /// It is none of the formats that are known, by its first bytes.
    case unknownFormat
    /// The file has no byte.
    case empty
    /// The file ends before something that has to be there, which ends at the offset `neededBytes`.
    case cutShort(neededBytes: Int64)
    /// It breaks its format's rules: a clause that says how.
    case malformed(String)
    /// It keeps its format's rules, but in a way that is not read here: a clause that says what.
    case unsupported(String)
    /// It has more of something than is looked at.
    case tooMany(MediaLimits.Counted, limit: Int64)
  }

  /// What is wrong.
  package let reason: Reason
  /// The offset in the file of the structure in which it was noticed.
  package let offset: Int64
  /// Which structure that is, in the format's words: `moov/trak/mdia`, `IDAT`, `Cluster`.
  package let place: String

  init(_ reason: Reason, at offset: Int64, in place: String) {
    self.reason = reason
    self.offset = offset
    self.place = place
  }
}

extension FormatError: CustomStringConvertible {
  /// What is wrong and where, as a clause.
  package var description: String {
    let what =
      switch reason {
      case .unknownFormat: "not a known image, video or sound format"
      case .empty: "the file is empty"
      case .cutShort(let bytes): "the file ends before byte \(bytes), which is required"
      case .malformed(let text): text
      case .unsupported(let text): "\(text), which is not supported"
      case .tooMany(let counted, let limit): "more than \(limit) \(counted.rawValue)"
      }
    return place.isEmpty ? what : "\(what) (\(place) at byte \(offset))"
  }
}
