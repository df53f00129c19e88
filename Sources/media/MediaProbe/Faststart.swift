import MediaFormats
import System

/// Moves the tables of MP4 and MOV files to the front, so that the beginning of the file starts it. No sample
/// changes (`FaststartPlan`).
package enum Faststart {
  /// The suffix of a file's name while it is being written.
  package static let partialSuffix = ".faststart.partial"
  /// The number of bytes copied at a time.
  private static let pieceBytes = 1 << 20

  /// Rewrites the file in place or to another path.
  ///
  /// The new file gets the name atomically, after it is on disk and was read again; processes that have the
  /// old file open continue with it.
  ///
  /// - Returns: the size of the new file; nil if the tables are in front already, and nothing was written.
  /// - Throws: `FaststartError` if the tables cannot be moved, `ProbeError`, `FaststartFileError`.
  ///   Then nothing has changed.
  package static func rewrite(_ path: String, to output: String? = nil) throws -> Int? {
    // A link stays a link.
    guard let source = FileSystem.resolvingLinks(path) else {
      throw ProbeError.system(SystemError(call: "realpath", purpose: "read \(path)", code: 2))
    }
    if let output, FileSystem.resolvingLinks(output) != nil {
      throw FaststartFileError.exists(path: output)
    }
    let old = try FileSource(path: source)
    let plan: FaststartPlan
    do {
      plan = try FaststartPlan(for: old)
    } catch FaststartError.tablesInFront {
      return nil
    }
    let destination = output ?? source
    let partial = try openPartial(destination)
    do {
      try write(plan, from: old, to: partial)
      let status = try FileStatus(path: source)
      guard status.bytes == old.file.size, status.modified == old.file.modified else {
        throw ProbeError.changed
      }
      try partial.setPermissions(status.permissions)
      // A user who may not change owners owns the new file.
      try? partial.setOwner(status.owner, group: status.group)
      try partial.sync()
      try FileSystem.rename(partial.path, to: destination)
    } catch {
      FileSystem.remove(partial.path)
      throw error
    }
    try FileSystem.sync(folder: folder(of: destination))
    return Int(plan.bytes)
  }

  /// Rewrites an open file to another one, which is empty.
  ///
  /// - Throws: `FaststartError` if the tables cannot be moved or already are in front, `FormatError`,
  ///   `ProbeError`, `FaststartFileError`, `SystemError`.
  package static func rewrite(_ file: OpenFile, to output: Descriptor) throws {
    let old = FileSource(file)
    try write(try FaststartPlan(for: old), from: old, to: output)
    try old.requireUnchanged()
  }

  /// Creates the partial file next to its destination, or takes over the one of a killed run.
  private static func openPartial(_ destination: String) throws -> Descriptor {
    let path = destination + partialSuffix
    while true {
      let file = try Descriptor(path, [.readingAndWriting, .creating, .notThroughLink])
      guard file.tryLock() else { throw FaststartFileError.isBeingMade(path: destination) }
      // The previous holder of the lock may have renamed the file.
      let opened = try file.status.number
      guard let named = try? FileStatus(path: path).number, named == opened else { continue }
      try file.cut(to: 0)
      return file
    }
  }

  private static func write(
    _ plan: FaststartPlan, from old: FileSource, to partial: Descriptor
  ) throws {
    try partial.write(plan.head[...], at: 0)
    var position = plan.head.count
    for range in plan.ranges {
      var offset = range.lowerBound
      while offset < range.upperBound {
        let count = Int(min(Int64(pieceBytes), range.upperBound - offset))
        let piece = try old.bytes(at: offset, count: count)
        guard piece.count == count else { throw ProbeError.changed }
        try partial.write(piece[...], at: position)
        position += count
        offset += Int64(count)
      }
    }
    try check(partial, against: plan)
  }

  /// Checks that the new file starts and has the planned size.
  private static func check(_ partial: Descriptor, against plan: FaststartPlan) throws {
    guard let file = OpenFile(partial) else { throw ProbeError.notAFile }
    let source = FileSource(file)
    let structure = try MediaStructure(reading: source, limits: MediaLimits())
    guard source.size == plan.bytes, structure.start.isStartable, structure.flaws.isEmpty else {
      throw FaststartFileError.notStartable(path: partial.path)
    }
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// The reason why a file was not rewritten.
package enum FaststartFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The destination exists.
  case exists(path: String)
  /// Another program is writing the file.
  case isBeingMade(path: String)
  /// The written file does not start, which is a defect of this program.
  case notStartable(path: String)

  /// The error as a clause.
  package var description: String {
    switch self {
    case .exists(let path): "\(path) already exists and is not replaced"
    case .isBeingMade(let path): "\(path) is being written by another program"
    case .notStartable(let path): "\(path) does not start as written: nothing was changed"
    }
  }
}
