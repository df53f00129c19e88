import MediaFiles
import System

/// The files of `/media/`, in a folder or a bucket, and how they are served.
struct MediaFolder: Sendable {
  let storage: MediaStorage
  /// The folder of incomplete uploads: in the root, or for a bucket beside the database; `nil` if there is no
  /// such folder.
  var spool: MediaRoot?
  /// Reads objects for clients; `nil` for a folder.
  var objects: ObjectReader?
  /// The URLs to which clients are redirected for objects; `nil` if this server sends the objects.
  var links: ObjectLinks?
  /// The cache lifetime of an answer that is true of whatever is at a path.
  let maxAgeSeconds: Int
  /// The maximum number of open files.
  var maximumOpenFiles = Int.max
  /// Verifies signatures; `nil` if URLs have none.
  var signer: MediaSigner?
  let versions: MediaVersions
  private let plainCaching: CachePolicy.Directive
  private let immutableCaching = Self.caching(isImmutable: true, seconds: immutableSeconds)

  /// The maximum number of parts of a multipart answer: no player asks for more.
  static let maximumParts = 16
  /// The time within which a changed file may change again in the same tick of the file system's clock: its
  /// tag is weak until then (RFC 9110 section 8.8.1).
  static let settlingSeconds = 2
  /// The maximum size of a served file, 8 PiB: JSON and scripts have no exact number for a larger size, and 8
  /// EiB, which a sparse file may have, leave no room for counting.
  static let maximumFileBytes = 1 << 53
  /// One year: caches keep nothing longer.
  private static let immutableSeconds = 31_536_000

  init(_ storage: MediaStorage, maxAgeSeconds: Int, versions: MediaVersions) {
    self.storage = storage
    spool = storage.root
    self.maxAgeSeconds = maxAgeSeconds
    self.versions = versions
    plainCaching = Self.caching(isImmutable: false, seconds: maxAgeSeconds)
  }

  /// Refuses a file that is too large to be served.
  static func check(_ file: OpenFile) throws(MediaError) {
    guard (0...maximumFileBytes).contains(file.size) else { throw .notFound(.tooLarge) }
  }

  /// The time for which caches may keep an answer: at most until its URL expires.
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
