import Feed

/// A file at the URL by which posts name it, and the known facts about it.
public struct KnownMedia: Hashable, Sendable {
  /// The URL, to the byte as posts have it: `/media/…` for a file of ours.
  @ByBytes public var url: String
  /// The known facts; they have a version. The variants are those at this URL: another URL of the same
  /// content may have others.
  public var truth: MediaTruth
  /// When a file on a disk, or anything that is said of it, was last changed (`st_ctim` of stat(3type)), in
  /// nanoseconds since 1970; `nil` for others.
  public var changedNanoseconds: Int64?

  /// Creates the facts about the file at a URL.
  public init(url: String, truth: MediaTruth, changedNanoseconds: Int64? = nil) {
    self.url = url
    self.truth = truth
    self.changedNanoseconds = changedNanoseconds
  }

  /// Of what the truth is true: a content is the same wherever it lies, and so is nothing; what a validator stands
  /// for is not.
  ///
  /// - Throws: `MediaStoreError` where the truth has no version, or cannot be true.
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

/// What is wrong with facts about a media file that a caller wants to store.
public enum MediaStoreError: Error, Hashable, CustomStringConvertible {
  /// Without a version, later readers could not tell whether the facts are still valid.
  case noVersion(url: String)
  /// It can be true of no file, or is beyond what can be kept.
  case impossible(url: String, problem: String)

  /// Which file, and what is wrong.
  public var description: String {
    switch self {
    case .noVersion(let url): "the facts about \(url) have no version"
    case .impossible(let url, let problem): "the facts about \(url) are invalid: \(problem)"
    }
  }
}

/// Stores the facts about media files, beside posts: by version, so that the same content in two places is
/// stored once. Posts that name such files show the facts from then on, and count as changed; their records
/// stay as they are.
///
/// For threads that may wait. Each method throws the store's own failures.
public protocol MediaStore: Sendable {
  /// The facts about the files at these URLs, in their order; `nil` for an unknown file.
  func media(at urls: [String]) throws -> [KnownMedia?]
  /// The facts about a content, whichever file has it, without variants; `nil` if it is unknown.
  func truth(ofContent sha256: [UInt8]) throws -> MediaTruth?
  /// Files in the order of their URLs' bytes, those behind `url`, or the first ones.
  func media(after url: String?, limit: Int) throws -> [KnownMedia]
  /// URLs by which posts name files of ours, each once: those that begin with `/`, in the order of their
  /// bytes, those behind `url`, or the first ones.
  func namedMedia(after url: String?, limit: Int) throws -> [String]
  /// Ids of posts that have a file at one of these URLs, each once, the first ones in the order of their bytes.
  func posts(naming urls: [String], limit: Int) throws -> [String]
  /// Replaces the facts about files, all of them or none. When it returns, the facts are durable, and the
  /// next read shows them.
  ///
  /// - Throws: `MediaStoreError`.
  func keep(_ media: [KnownMedia]) throws
  /// Deletes the facts about the files at these URLs.
  func forget(_ urls: [String]) throws
}
