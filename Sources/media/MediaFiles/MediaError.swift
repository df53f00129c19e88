import Glibc
import ObjectStorage
import System

/// Why there is no file to send.
package enum MediaError: Error, Hashable, Sendable {
  /// Why a path has no file, as far as anybody outside may ask.
  package enum Absence: Hashable, Sendable {
    /// The path has more segments than `MediaRoot.depthLimit`.
    case tooDeep(segmentCount: Int)
    /// The segment at this index is empty, hidden, too long, or no single name.
    case nameNotServed(index: Int)
    /// Nothing of this name is there that could be opened without following a link.
    case noSuchFile
    /// Something is there, but a folder, a FIFO, a device or the like.
    case notRegularFile
    /// It is larger than what is served.
    case tooLarge
  }

  /// No file is served under this path (RFC 9110 section 15.5.5). Nothing that concerns the
  /// operator.
  case notFound(Absence)
  /// The file or a folder above it may not be read. To a client it is not there (RFC 9110 section
  /// 15.5.4 allows that); the operator will want to know.
  case denied(SystemError)
  /// The process or the machine can open nothing more just now (RFC 9110 section 15.6.4).
  case exhausted(SystemError)
  /// The file could not be opened for another reason, for example a broken disk.
  case unreadable(SystemError)
  /// The folder with the media is not there, not a folder, or may not be read.
  case rootUnusable(SystemError)
  /// The object store with the media did not do what it should.
  case store(ObjectStoreError)
}

extension MediaError {
  /// What it means that a segment below the root could not be opened.
  init(opening error: SystemError) {
    switch error.code {
    case ENOENT, ENOTDIR, ELOOP: self = .notFound(.noSuchFile)
    // A name that this file system cannot hold.
    case ENAMETOOLONG, EINVAL, EILSEQ: self = .notFound(.noSuchFile)
    // A socket, or a device without a driver.
    case ENXIO, ENODEV: self = .notFound(.notRegularFile)
    case EACCES, EPERM: self = .denied(error)
    default: self = error.isExhaustion ? .exhausted(error) : .unreadable(error)
    }
  }

  /// What it means that the root could not be opened.
  init(openingRoot error: SystemError) {
    self = error.isExhaustion ? .exhausted(error) : .rootUnusable(error)
  }
}

extension SystemError {
  /// Whether the call failed only for want of descriptors or memory.
  fileprivate var isExhaustion: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }
}

extension MediaError {
  /// Whether it may be otherwise soon: the object store is away, or has too much to do.
  package var isPassing: Bool {
    if case .store(let error) = self { error.isPassing } else { false }
  }
  /// Whether another wrote the object meanwhile.
  package var isConflict: Bool {
    if case .store(.preconditionFailed) = self { true } else { false }
  }
  /// Whether the object was replaced while it was read.
  package var isChange: Bool { if case .store(.changed) = self { true } else { false } }
}

extension MediaError: CustomStringConvertible {
  /// What is wrong, as a clause for a log.
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
