import MediaFiles
import System

/// The files of `/media/`, in a folder or a bucket, and how they are told to clients.
struct MediaFolder: Sendable {
  let storage: MediaStorage
  /// Where uploads are kept until they are whole: in the root, or for a bucket in a folder beside the database; nil where
  /// there is no such folder.
  var spool: MediaRoot?
  /// Reads objects for clients; nil of a folder.
  var objects: ObjectReader?
  /// Where clients are sent to for objects; nil where they get them from here.
  var links: ObjectLinks?
  /// How long an answer may be kept that is true of whatever lies at a path.
  let maxAgeSeconds: Int
  /// How many files may be open at once.
  var maximumOpenFiles = Int.max
  /// Looks at signatures; nil where URLs have none.
  var signer: MediaSigner?
  let versions: MediaVersions
  private let plainCaching: CachePolicy.Directive
  private let immutableCaching = Self.caching(isImmutable: true, seconds: immutableSeconds)

  /// The maximum number of parts of a multipart answer: no player asks for more.
  static let maximumParts = 16
  /// A file that changed so shortly ago may change again within the same tick of the file system's
  /// clock: its tag is weak until then (RFC 9110 section 8.8.1).
  static let settlingSeconds = 2
  /// A larger file is not served, 8 PiB: beyond that its size is exact in no JSON or script, and 8 EiB,
  /// which a sparse file may have, leave no room for counting.
  static let maximumFileBytes = 1 << 53
  /// A year: caches take more for no longer.
  private static let immutableSeconds = 31_536_000

  init(_ storage: MediaStorage, maxAgeSeconds: Int, versions: MediaVersions) {
    self.storage = storage
    spool = storage.root
    self.maxAgeSeconds = maxAgeSeconds
    self.versions = versions
    plainCaching = Self.caching(isImmutable: false, seconds: maxAgeSeconds)
  }

  /// Refuses a file that is not served for its size.
  static func check(_ file: OpenFile) throws(MediaError) {
    guard (0...maximumFileBytes).contains(file.size) else { throw .notFound(.tooLarge) }
  }

  /// How long caches may keep an answer: no longer than its URL holds.
  func caching(isImmutable: Bool, secondsLeft: Int?) -> CachePolicy.Directive {
    guard let secondsLeft else { return isImmutable ? immutableCaching : plainCaching }
    let seconds = isImmutable ? Self.immutableSeconds : maxAgeSeconds
    return Self.caching(isImmutable: isImmutable, seconds: min(seconds, secondsLeft))
  }

  /// RFC 9111 section 5.2.2 and RFC 8246.
  static func caching(isImmutable: Bool, seconds: Int) -> CachePolicy.Directive {
    CachePolicy.Directive(
      isImmutable ? "public, max-age=\(seconds), immutable" : "max-age=\(seconds)")
  }
}
