import Feed

/// By which URLs clients get the files that records name.
public protocol MediaNaming: Sendable {
  /// What an item says of the file that a record names by this URL, of which this version is known; nil where it
  /// says the URL and no more.
  func name(of url: Span<UInt8>, version: MediaVersion?) -> MediaName?
}

/// By which URLs items name files. Not an `Optional`, which is copied by asking at run time how, for each file.
public enum MediaNames: Sendable {
  /// By those of their records, to the byte: so records name them.
  case verbatim
  /// By those of their records.
  case asRecorded
  /// By these.
  case by(any MediaNaming)

  /// See `MediaNaming`. The version is asked for where it matters.
  @inline(__always)
  func name(of url: Span<UInt8>, version: @autoclosure () -> MediaVersion?) -> MediaName? {
    switch self {
    case .verbatim, .asRecorded: nil
    case .by(let naming): naming.name(of: url, version: version())
    }
  }

  /// Whether URLs are written as records have them, and not percent-encoded.
  @inline(__always)
  var areVerbatim: Bool {
    if case .verbatim = self { return true }
    return false
  }
}

/// What an item says of where a file is.
public struct MediaName: Sendable, Hashable {
  /// In place of the record's URL.
  public var url: [UInt8]?
  /// A URL beside it, at which there is nothing else, ever.
  public var immutableURL: [UInt8]?
  /// When the URL ceases to hold.
  public var expiresAt: Timestamp?

  /// The URL of the record, and no more.
  public init() {}
}
