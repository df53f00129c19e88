import Feed

/// A file at the URL by which posts name it, and the known facts about it.
public struct KnownMedia: Hashable, Sendable {
  /// The URL, to the byte as posts have it: `/media/…` for a file of ours.
  @ByBytes public var url: String
  /// The known facts; they have a version. The variants are those at this URL: another URL of the same
  /// content may have others.
  public var truth: MediaTruth
  /// The last change of a file on disk or of its metadata (`st_ctim` of stat(3type)), in nanoseconds since
  /// 1970; `nil` for others.
  public var changedNanoseconds: Int64?

  /// Creates the facts about the file at a URL.
  public init(url: String, truth: MediaTruth, changedNanoseconds: Int64? = nil) {
    self.url = url
    self.truth = truth
    self.changedNanoseconds = changedNanoseconds
  }

  /// The key under which the facts are stored. A content, or the absence of a file, is the same at every
  /// URL; an HTTP validator is only valid for its URL.
  ///
  /// - Throws: `MediaStoreError` if the facts have no version or are impossible.
  public func versionKey() throws(MediaStoreError) -> String {
    if let (field, words) = truth.problem {
      throw MediaStoreError.impossible(url: url, problem: "\(field) \(words)")
    }
    if let words = MediaVariant.problem(truth.variants) {
      throw MediaStoreError.impossible(url: url, problem: "its variants \(words)")
    }
    switch truth.version {
    case .content, .unavailable: return truth.version!.text
    case .entityTag, .modified: return "\(truth.version!.text) \(url)"
    case nil: throw MediaStoreError.noVersion(url: url)
    }
  }
}

/// A problem of facts about a media file that a caller wants to store.
public enum MediaStoreError: Error, Hashable, CustomStringConvertible {
  /// Without a version, later readers could not tell whether the facts are still valid.
  case noVersion(url: String)
  /// The facts cannot hold for any file, or exceed a limit.
  case impossible(url: String, problem: String)

  /// The file and the problem.
  public var description: String {
    switch self {
    case .noVersion(let url): "the facts about \(url) have no version"
    case .impossible(let url, let problem): "the facts about \(url) are invalid: \(problem)"
    }
  }
}

/// A store of facts about media files, beside posts: by version, so that the same content in two places is
/// stored once. Posts that name such files show the facts from then on, and count as changed; their records
/// stay unchanged.
///
/// For threads that may block. Each method throws the store's own failures.
public protocol MediaStore: Sendable {
  /// Returns the facts about the files at these URLs, in their order; `nil` for an unknown file.
  func media(at urls: [String]) throws -> [KnownMedia?]
  /// Returns the facts about a content, whichever file has it, without variants; `nil` if it is unknown.
  func truth(ofContent sha256: [UInt8]) throws -> MediaTruth?
  /// Returns files in the order of their URLs' bytes, from the one after `url`, or from the first.
  func media(after url: String?, limit: Int) throws -> [KnownMedia]
  /// Returns the distinct URLs by which posts name files of ours, which begin with `/`, in the order of
  /// their bytes, from the one after `url`, or from the first.
  func namedMedia(after url: String?, limit: Int) throws -> [String]
  /// Returns the distinct ids of posts that have a file at one of these URLs, the first ones in the order
  /// of their bytes.
  func posts(naming urls: [String], limit: Int) throws -> [String]
  /// Replaces the facts about files, all of them or none. When this returns, the facts are durable, and the
  /// next read shows them.
  ///
  /// - Throws: `MediaStoreError`.
  func keep(_ media: [KnownMedia]) throws
  /// Deletes the facts about the files at these URLs.
  func forget(_ urls: [String]) throws
}
