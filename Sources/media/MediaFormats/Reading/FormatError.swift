/// The reason why a file has no known structure: what is wrong, and where.
package struct FormatError: Error, Hashable, Sendable {
  /// The kind of problem.
  package enum Reason: Hashable, Sendable {
    /// The first bytes match no known format.
    case unknownFormat
    /// The file has no bytes.
    case empty
    /// The file ends before a required structure, whose end is the offset `neededBytes`.
    case cutShort(neededBytes: Int64)
    /// The file violates its format; the clause says how.
    case malformed(String)
    /// The file is valid, but uses a feature that is not supported; the clause says which.
    case unsupported(String)
    /// The file has more of something than the limit.
    case tooMany(MediaLimits.Counted, limit: Int64)
  }

  /// The problem.
  package let reason: Reason
  /// The file offset of the structure with the problem.
  package let offset: Int64
  /// The structure in the format's terms: `moov/trak/mdia`, `IDAT`, `Cluster`.
  package let place: String

  init(_ reason: Reason, at offset: Int64, in place: String) {
    self.reason = reason
    self.offset = offset
    self.place = place
  }
}

extension FormatError: CustomStringConvertible {
  /// The problem and its place, as a clause.
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
