import Glibc
import ObjectStorage
import System

/// The reason why there is no file to send.
package enum MediaError: Error, Hashable, Sendable {
  /// The reason why a path has no file, from a client's point of view.
  package enum Absence: Hashable, Sendable {
    /// The path has more segments than `MediaRoot.depthLimit`.
    case tooDeep(segmentCount: Int)
    /// The segment at this index is empty, hidden, too long, or not a single name.
    case nameNotServed(index: Int)
    /// There is no such name that could be opened without following a link.
    case noSuchFile
    /// The name belongs to a folder, a FIFO, a device or the like.
    case notRegularFile
    /// The file is larger than the limit for served files.
    case tooLarge
  }

  /// No file is served under this path (RFC 9110 section 15.5.5). The operator need not know.
  case notFound(Absence)
  /// The process may not read the file or a folder above it. For a client the file is absent (RFC 9110
  /// section 15.5.4 allows that); the operator should know.
  case denied(SystemError)
  /// The process or the machine has no descriptors or memory left (RFC 9110 section 15.6.4).
  case exhausted(SystemError)
  /// The file could not be opened for another reason, such as a broken disk.
  case unreadable(SystemError)
  /// The media folder is missing, not a folder, or not readable.
  case rootUnusable(SystemError)
  /// A request to the object store with the media failed.
  case store(ObjectStoreError)
}

extension MediaError {
  /// Maps the error of opening a segment below the root.
  init(opening error: SystemError) {
    switch error.code {
    case ENOENT, ENOTDIR, ELOOP: self = .notFound(.noSuchFile)
    // The file system cannot represent the name.
    case ENAMETOOLONG, EINVAL, EILSEQ: self = .notFound(.noSuchFile)
    // A socket, or a device without a driver.
    case ENXIO, ENODEV: self = .notFound(.notRegularFile)
    case EACCES, EPERM: self = .denied(error)
    default: self = error.isExhaustion ? .exhausted(error) : .unreadable(error)
    }
  }

  /// Maps the error of opening the root.
  init(openingRoot error: SystemError) {
    self = error.isExhaustion ? .exhausted(error) : .rootUnusable(error)
  }
}

extension SystemError {
  /// Whether the call failed only for lack of descriptors or memory.
  fileprivate var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }
}

extension MediaError {
  /// Whether a later try may succeed: the object store is unreachable or overloaded.
  package var isPassing: Bool {
    if case .store(let error) = self { error.isPassing } else { false }
  }
  /// Whether another writer wrote the object meanwhile.
  package var isConflict: Bool {
    if case .store(.preconditionFailed) = self { true } else { false }
  }
  /// Whether the object was replaced while it was being read.
  package var isChange: Bool { if case .store(.changed) = self { true } else { false } }
}

extension MediaError: CustomStringConvertible {
  /// The error as a clause for a log.
  package var description: String {
    switch self {
    case .notFound(.tooDeep(let count)):
      "the path has \(count) segments, more than \(MediaRoot.depthLimit)"
    case .notFound(.nameNotServed(let index)):
      "segment \(index) of the path is not a name that is served"
    case .notFound(.noSuchFile): "no such file"
    case .notFound(.notRegularFile): "not a regular file"
    case .notFound(.tooLarge): "the file is too large"
    case .denied(let error), .exhausted(let error), .unreadable(let error),
      .rootUnusable(let error):
      error.description
    case .store(let error): error.description
    }
  }
}
