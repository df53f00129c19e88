import Feed
import MediaFiles
import MediaProbe
import System

/// Finds out about the objects of a bucket what clients cannot know, from no more of their bytes than that takes.
package struct ObjectProbe: Sendable {
  /// An object as of its first bytes.
  struct First {
    let status: MediaStatus
    let bytes: [UInt8]

    /// What the store tells it by.
    var version: MediaVersion? {
      status.entityTag.flatMap { MediaVersion(text: "etag:\($0)") }
    }
  }

  /// What is asked for first: most files' tables.
  private static let firstBytes = 65_536

  /// How much is asked for at once where all of an object is read.
  private static let wholePieceBytes = 1 << 20

  private let bucket: MediaBucket
  private let probe: MediaProbe

  /// For the objects of a bucket.
  package init(_ bucket: MediaBucket, _ probe: MediaProbe) {
    self.bucket = bucket
    self.probe = probe
  }

  /// What is known of the object with these path segments. Its version is what the store tells it by.
  ///
  /// - Throws: `MediaError` where the store does not bring it, `ProbeError`.
  package func report(of segments: [String]) throws -> ProbeReport {
    try report(of: segments, first(of: segments))
  }

  /// - Throws: `MediaError`.
  func first(of segments: [String]) throws(MediaError) -> First {
    let (status, bytes) = try bucket.read(segments, 0..<Self.firstBytes)
    return First(status: status, bytes: bytes)
  }

  /// - Throws: as the other one does.
  func report(of segments: [String], _ first: First) throws -> ProbeReport {
    // The probe passes on what it knows: the store's word would be lost in it.
    var failure: MediaError?
    let limits = probe.remoteLimits
    do {
      let file = try PiecedFile(
        size: first.status.bytes, first: first.bytes[...], limitBytes: limits.bytes,
        scratchFolder: limits.scratchFolder
      ) { range in
        do throws(MediaError) {
          return try bucket.read(segments, range, of: first.status.entityTag).bytes[...]
        } catch {
          if error.isChange { throw RemoteError.changed }
          failure = error
          throw error
        }
      }
      let report = try probe.probe(file, version: first.version)
      if let problem = report.truth.problem {
        throw ProbeError.unbelievable(program: "lookahead", "\(problem.field) \(problem.words)")
      }
      return report
    } catch {
      throw failure ?? error
    }
  }

  /// All of an object, in a file without a name, and the version that it is of.
  ///
  /// - Throws: `MediaError` where the store does not bring it, `ProbeError`, `SystemError`.
  func whole(of segments: [String]) throws -> (file: OpenFile, version: MediaVersion?) {
    let first = try first(of: segments)
    let limits = probe.remoteLimits
    let size = first.status.bytes
    guard size <= limits.wholeBytes else {
      throw ProbeError.tooLarge(bytes: size, limitBytes: limits.wholeBytes)
    }
    let scratch = try ScratchFile(folder: limits.scratchFolder)
    try scratch.write(first.bytes, at: 0)
    var offset = first.bytes.count
    while offset < size {
      if probe.cancellation?.isCancelled == true { throw ProbeError.cancelled }
      let range = offset..<min(size, offset + Self.wholePieceBytes)
      let piece = try bucket.read(segments, range, of: first.status.entityTag).bytes
      try scratch.write(piece, at: offset)
      offset += piece.count
    }
    guard let file = OpenFile(scratch.descriptor) else { throw ProbeError.notAFile }
    return (file, first.version)
  }
}
