import Feed

/// The URLs at which clients get the files that records name. A class, because it is passed on for every file,
/// and a copy of a value of unknown type is slow.
public protocol MediaNaming: AnyObject, Sendable {
  /// Returns the names in an item of the file that a record names by this URL and that has this version;
  /// `nil` if the item has only that URL.
  func name(of url: Span<UInt8>, version: MediaVersion?) -> MediaName?
}

/// The URLs by which items name files. Not an `Optional`, because its copy would look up the type's layout
/// at run time, for each file.
public enum MediaNames: Sendable {
  /// The URLs of the records, to the byte, for records.
  case verbatim
  /// The URLs of the records.
  case asRecorded
  /// The URLs of this naming.
  case by(any MediaNaming)

  /// See `MediaNaming`. Evaluates the version only if it matters.
  @inline(__always)
  func name(of url: Span<UInt8>, version: @autoclosure () -> MediaVersion?) -> MediaName? {
    switch self {
    case .verbatim, .asRecorded: nil
    case .by(let naming): naming.name(of: url, version: version())
    }
  }

  /// Whether URLs are written as in records, without percent-encoding.
  @inline(__always)
  var areVerbatim: Bool {
    if case .verbatim = self { return true }
    return false
  }
}

/// The URLs of a file in an item.
public struct MediaName: Sendable, Hashable {
  /// The URL that replaces the record's.
  public var url: [UInt8]?
  /// An additional URL whose content never changes.
  public var immutableURL: [UInt8]?
  /// The time at which the URL expires.
  public var expiresAt: Timestamp?

  /// Creates a name with only the record's URL.
  public init() {}
}
