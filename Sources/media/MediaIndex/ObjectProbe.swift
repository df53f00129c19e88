import Feed
import MediaFiles
import MediaProbe
import System

/// Determines facts about the objects of a bucket that clients cannot know, from as few of
/// their bytes as possible.
package struct ObjectProbe: Sendable {
  /// The status and first bytes of an object.
  struct First {
    let status: MediaStatus
    let bytes: [UInt8]

    /// The version by the object's entity tag.
    var version: MediaVersion? {
      status.entityTag.flatMap { MediaVersion(text: "etag:\($0)") }
    }
  }

  /// The number of bytes of the first request; most files have their tables there.
  private static let firstBytes = 65_536

  /// The number of bytes of each request for a whole object.
  private static let wholePieceBytes = 1 << 20

  private let bucket: MediaBucket
  private let probe: MediaProbe

  /// Creates a probe of a bucket's objects.
  package init(_ bucket: MediaBucket, _ probe: MediaProbe) {
    self.bucket = bucket
    self.probe = probe
  }

  /// Returns the facts about the object with these path segments. The version is the entity tag of the store.
  ///
  /// - Throws: `MediaError` if the store does not return the object, `ProbeError`.
  package func report(of segments: [String]) throws -> ProbeReport {
    try report(of: segments, first(of: segments))
  }

  /// Reads the status and first bytes of the object with these path segments.
  ///
  /// - Throws: `MediaError`.
  func first(of segments: [String]) throws(MediaError) -> First {
    let (status, bytes) = try bucket.read(segments, 0..<Self.firstBytes)
    return First(status: status, bytes: bytes)
  }

  /// Returns the facts about an object whose first bytes have been read.
  ///
  /// - Throws: as `report(of:)` does.
  func report(of segments: [String], _ first: First) throws -> ProbeReport {
    // Keep the store's error: the probe wraps unknown ones, which would lose it.
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

  /// Returns a whole object in a file without a name, and its version.
  ///
  /// - Throws: `MediaError` if the store does not return the object, `ProbeError`, `SystemError`.
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
