import MediaFormats
import System

/// Brings the tables of MP4 and MOV files to their front, so that a head of the file starts it. No sample
/// changes (`FaststartPlan`).
package enum Faststart {
  /// What is put behind a file's name while it is being made.
  package static let partialSuffix = ".faststart.partial"
  /// How much is copied at a time.
  private static let pieceBytes = 1 << 20

  /// Writes the file anew, in its own place or to another.
  ///
  /// The name comes to stand for the new file at once and whole, when it is on the disk and was read through
  /// again; whoever has the old one open goes on with that.
  ///
  /// - Returns: the size of the new file; nil where the tables are in front already, and nothing was written.
  /// - Throws: `FaststartError` where it cannot be done, `ProbeError`, `FaststartFileError`. Then everything
  ///   is as it was.
  package static func rewrite(_ path: String, to output: String? = nil) throws -> Int? {
    // A link stays one.
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
      // Who may not give files away keeps it.
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

  /// Writes an open file anew to another one, which is empty.
  ///
  /// - Throws: `FaststartError` where it cannot be done or there is nothing to do, `FormatError`, `ProbeError`,
  ///   `FaststartFileError`, `SystemError`.
  package static func rewrite(_ file: OpenFile, to output: Descriptor) throws {
    let old = FileSource(file)
    try write(try FaststartPlan(for: old), from: old, to: output)
    try old.requireUnchanged()
  }

  /// Makes the file beside where it will be, or takes over what a killed run left.
  private static func openPartial(_ destination: String) throws -> Descriptor {
    let path = destination + partialSuffix
    while true {
      let file = try Descriptor(path, [.readingAndWriting, .creating, .notThroughLink])
      guard file.tryLock() else { throw FaststartFileError.isBeingMade(path: destination) }
      // Who held the lock until now may have given the file its name.
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

  /// Sees that the new file starts, and has the size that it was to have.
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

/// Why a file was not written anew.
package enum FaststartFileError: Error, Hashable, Sendable, CustomStringConvertible {
  /// There is something where the new file is to be.
  case exists(path: String)
  /// Another program is writing it.
  case isBeingMade(path: String)
  /// What was written does not start: a mistake of this program.
  case notStartable(path: String)

  /// What is in the way, as a clause.
  package var description: String {
    switch self {
    case .exists(let path): "\(path) already exists and is not replaced"
    case .isBeingMade(let path): "\(path) is being written by another program"
    case .notStartable(let path): "\(path) does not start as written: nothing was changed"
    }
  }
}
