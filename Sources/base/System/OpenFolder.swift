import Glibc

/// An open folder.
public struct OpenFolder: Sendable {
  private let folder: Descriptor

  /// Opens the folder at a path, following links.
  public init(path: String, purpose: @autoclosure () -> String) throws(SystemError) {
    folder = try Descriptor(path, in: nil, .folder, purpose: purpose())
  }

  private init(_ folder: Descriptor) { self.folder = folder }

  /// Opens the folder with this name in this one; `ENOTDIR` if it is a link or anything else.
  public func folder(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFolder {
    OpenFolder(try Descriptor(name, in: folder, [.folder, .notThroughLink], purpose: purpose()))
  }

  /// Opens the regular file with this name in this folder; nil if it is of another kind, `ELOOP` if it is a
  /// link. It neither waits for the other end of a FIFO nor takes a terminal.
  public func file(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFile? {
    OpenFile(
      try Descriptor(name, in: folder, [.notThroughLink, .withoutWaiting], purpose: purpose()))
  }

  /// The metadata of the file with this name in this folder; of a link, of the link itself.
  public func status(
    of name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> FileStatus {
    try FileStatus(of: name, in: folder, purpose: purpose())
  }

  /// Opens the folder with this name in this one, and makes it if it is absent (`mkdirat(2)`).
  public func makeFolder(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFolder {
    do throws(SystemError) {
      try retrying("mkdirat", purpose()) { mkdirat(folder.number, name, 0o777) }
    } catch  where error.code == EEXIST {}
    return try self.folder(named: name, purpose: purpose())
  }

  /// Removes the folder with this name, if it exists and is empty (`unlinkat(2)`).
  public func removeFolder(named name: String) { unlinkat(folder.number, name, AT_REMOVEDIR) }

  /// Makes an empty file with this name for reading and writing, or takes over that of a process that has
  /// ended; it is locked while it is open here. Nil if another process is making it.
  public func makeFile(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> Descriptor? {
    while true {
      let file = try Descriptor(
        name, in: folder, [.readingAndWriting, .creating, .notThroughLink], purpose: purpose())
      guard file.tryLock() else { return nil }
      // The previous holder of the lock may have renamed the file.
      let opened = try file.status.number
      guard let named = try? status(of: name, purpose: ""), named.number == opened else { continue }
      try file.cut(to: 0)
      return file
    }
  }

  /// Opens the file with this name for reading and writing, as it is, and locks it while it is open here; nil
  /// if another process has locked it.
  ///
  /// - Throws: `SystemError`, also if there is no such file.
  public func takeFile(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> Descriptor? {
    while true {
      let file = try Descriptor(
        name, in: folder, [.readingAndWriting, .notThroughLink, .withoutWaiting], purpose: purpose()
      )
      guard file.tryLock() else { return nil }
      // The previous holder of the lock may have renamed or removed the file.
      let opened = try file.status.number
      guard try status(of: name, purpose: purpose()).number == opened else { continue }
      return file
    }
  }

  /// Renames a file in this folder, replacing the file with the new name (`renameat(2)`).
  public func rename(
    _ name: String, to newName: String, purpose: @autoclosure () -> String
  ) throws(SystemError) {
    try retrying("renameat", purpose()) {
      renameat(folder.number, name, folder.number, newName)
    }
  }

  /// Moves a file to another folder of the same file system, replacing the file with the new name
  /// (`renameat(2)`).
  public func move(
    _ name: String, to other: OpenFolder, as newName: String, purpose: @autoclosure () -> String
  ) throws(SystemError) {
    try retrying("renameat", purpose()) {
      renameat(folder.number, name, other.folder.number, newName)
    }
  }

  /// Opens the file with this name for reading and writing, as it is, or makes an empty one.
  public func keepFile(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> Descriptor {
    try Descriptor(
      name, in: folder, [.readingAndWriting, .creating, .notThroughLink], purpose: purpose())
  }

  /// Removes a file's name, if it exists (`unlinkat(2)`).
  public func remove(_ name: String) { unlinkat(folder.number, name, 0) }

  /// Removes the name of a file, which must exist.
  public func delete(_ name: String, purpose: @autoclosure () -> String) throws(SystemError) {
    _ = try retrying("unlinkat", purpose()) { unlinkat(folder.number, name, 0) }
  }

  /// Waits until its names are on the disk.
  public func sync() throws(SystemError) { try folder.sync() }

  /// Up to `limit` of its names: the first ones after `last` in the order of their bytes; fewer only if there
  /// are no more. It holds at most twice as many in memory, however many the folder has.
  ///
  /// It leaves out `.` and `..`, and names for which `isWanted` is false. Names are bytes, mostly UTF-8.
  public func names(
    after last: [UInt8]?, limit: Int, purpose: @autoclosure () -> String,
    where isWanted: ([UInt8]) -> Bool
  ) throws(SystemError) -> [[UInt8]] {
    precondition(limit > 0)
    // A descriptor of its own, since the position in the listing belongs to the descriptor.
    let number = try retrying("openat", purpose()) {
      openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard let stream = fdopendir(number) else {
      let error = SystemError(call: "fdopendir", purpose: purpose())
      close(number)
      throw error
    }
    defer { closedir(stream) }
    var names: [[UInt8]] = []
    func keepFirst() {
      names.sort { $0.lexicographicallyPrecedes($1) }
      names.removeLast(max(0, names.count - limit))
    }
    while true {
      errno = 0
      guard let entry = readdir(stream) else { break }
      let name = Self.name(of: entry)
      if name == [UInt8(ascii: ".")] || name == Array("..".utf8) || !isWanted(name) { continue }
      if let last, !last.lexicographicallyPrecedes(name) { continue }
      names.append(name)
      if names.count == 2 * limit { keepFirst() }
    }
    let code = errno
    guard code == 0 else { throw SystemError(call: "readdir", purpose: purpose(), code: code) }
    keepFirst()
    return names
  }

  private static func name(of entry: UnsafeMutablePointer<dirent>) -> [UInt8] {
    withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
  }
}
