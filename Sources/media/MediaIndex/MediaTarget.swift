import MediaFiles
import System

/// A part of a media root to inspect.
package enum MediaTarget: Hashable, Sendable {
  /// All files below the folder with these path segments; without segments, all files of the root.
  case folder([String])
  /// The file with these path segments.
  case file([String])
  /// The files that posts in the store name.
  case namedByPosts

  /// Creates the target at a path in the root.
  ///
  /// - Throws: `MediaTargetError`.
  package init(path: String, in storage: MediaStorage) throws(MediaTargetError) {
    switch storage {
    case .folder(let root): try self.init(path: path, inFolder: root)
    case .bucket(let bucket): try self.init(address: path, in: bucket)
    }
  }

  /// Parses `s3://bucket/prefix/path`: an object, or all objects below the path.
  private init(address text: String, in bucket: MediaBucket) throws(MediaTargetError) {
    let whole = bucket.address.description
    let bare = text.hasSuffix("/") ? text : text + "/"
    guard bare.utf8.starts(with: whole.utf8) else {
      throw .outside(path: text, root: whole)
    }
    let segments = bare.utf8.dropFirst(whole.utf8.count).split(separator: UInt8(ascii: "/"))
      .map { String(Substring($0)) }
    self = .folder(segments)
    guard !segments.isEmpty, !text.hasSuffix("/") else { return }
    do throws(MediaError) {
      _ = try bucket.status(of: segments)
      self = .file(segments)
    } catch {
      var objects = MediaObjects(bucket, below: segments, atOnce: 1)
      if case .notFound = error, case .some(.some) = try? objects.next() { return }
      throw .unusable(path: text, reason: WalkProblem.media(error).description)
    }
  }

  private init(path: String, inFolder root: MediaRoot) throws(MediaTargetError) {
    let status: FileStatus
    do throws(SystemError) {
      status = try FileStatus(path: path)
    } catch {
      throw .unusable(path: path, reason: error.reason)
    }
    guard let whole = FileSystem.resolvingLinks(path),
      let rootPath = FileSystem.resolvingLinks(root.path)
    else { throw .unusable(path: path, reason: "it does not exist") }
    // Compare bytes, as names are: Swift treats `/` with a following accent as one character.
    let slash = UInt8(ascii: "/")
    let rest = whole.utf8.dropFirst(rootPath.utf8.count)
    guard whole.utf8.starts(with: rootPath.utf8),
      rest.isEmpty || rest.first == slash || rootPath == "/"
    else { throw .outside(path: path, root: root.path) }
    let segments = rest.split(separator: slash).map { String(Substring($0)) }
    self = status.isFolder ? .folder(segments) : .file(segments)
    do throws(MediaError) {
      // A folder that is not served, such as a hidden one, has no files to add.
      switch self {
      case .folder: try root.requireFolder(segments)
      case .file, .namedByPosts: _ = try root.status(of: segments)
      }
    } catch {
      throw .unusable(path: path, reason: WalkProblem.media(error).description)
    }
  }

  private typealias WalkProblem = MediaWalk.WalkProblem
}

/// The reason why a target cannot be inspected.
package enum MediaTargetError: Error, Hashable, CustomStringConvertible {
  /// The path does not exist, is not served, or is not readable.
  case unusable(path: String, reason: String)
  /// No URL of the server leads to the path.
  case outside(path: String, root: String)

  /// `path: what is wrong`
  package var description: String {
    switch self {
    case .unusable(let path, let reason): "\(path): \(reason)"
    case .outside(let path, let root):
      "\(path): it is not in the media root \(root), so no post can show it"
    }
  }
}
