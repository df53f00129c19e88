import Feed

/// A file at the URL by which posts name it, and what is known of it.
public struct KnownMedia: Hashable, Sendable {
  /// The URL, to the byte as posts have it: `/media/…` for a file of ours.
  @ByBytes public var url: String
  /// What is known of it; it has a version. Its variants are those at this URL: another one of the same
  /// content may have others.
  public var truth: MediaTruth
  /// When a file on a disk, or anything that is said of it, was last changed (`st_ctim` of stat(3type)), in
  /// nanoseconds since 1970; `nil` for others.
  public var changedNanoseconds: Int64?

  /// What is known of the file at a URL.
  public init(url: String, truth: MediaTruth, changedNanoseconds: Int64? = nil) {
    self.url = url
    self.truth = truth
    self.changedNanoseconds = changedNanoseconds
  }

  /// Of what the truth is true: a content is the same wherever it lies, and so is nothing; what a validator stands for is not.
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

/// What is wrong with something that is to be known of a media file.
public enum MediaStoreError: Error, Hashable, CustomStringConvertible {
  /// Nobody could say later whether it still holds.
  case noVersion(url: String)
  /// It can be true of no file, or is beyond what can be kept.
  case impossible(url: String, problem: String)

  /// Which file, and what is wrong.
  public var description: String {
    switch self {
    case .noVersion(let url): "what is known of \(url) has no version"
    case .impossible(let url, let problem): "what is known of \(url) cannot be: \(problem)"
    }
  }
}

/// Where the truth about media files is kept, beside posts: by version, so that the same content in two
/// places is kept once. Posts whose files are named so show it from then on, as if they had changed; their
/// records stay as they are.
///
/// For threads that may wait. Each method throws what the store says of its own failure.
public protocol MediaStore: Sendable {
  /// What is known of the files at these URLs, in their order; `nil` where nothing is.
  func media(at urls: [String]) throws -> [KnownMedia?]
  /// What is known of a content, whichever file has it, without variants; `nil` where nothing is.
  func truth(ofContent sha256: [UInt8]) throws -> MediaTruth?
  /// Files in the order of their URLs' bytes, those behind `url`, or the first ones.
  func media(after url: String?, limit: Int) throws -> [KnownMedia]
  /// URLs by which posts name files of ours, each once: those that begin with `/`, in the order of their
  /// bytes, those behind `url`, or the first ones.
  func namedMedia(after url: String?, limit: Int) throws -> [String]
  /// Keeps what is known of files, all of it or nothing, in place of what was known before. When it returns,
  /// it is durable, and the next read shows it.
  ///
  /// - Throws: `MediaStoreError`.
  func keep(_ media: [KnownMedia]) throws
  /// Forgets what is known of the files at these URLs.
  func forget(_ urls: [String]) throws
}
