import Glibc

/// A folder that is open.
public struct OpenFolder: Sendable {
  private let folder: Descriptor

  /// The folder at a path, through links if there are any.
  public init(path: String, purpose: @autoclosure () -> String) throws(SystemError) {
    folder = try Descriptor(path, in: nil, .folder, purpose: purpose())
  }

  private init(_ folder: Descriptor) { self.folder = folder }

  /// The folder of this name in this one; `ENOTDIR` if it is a link or anything else.
  public func folder(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFolder {
    OpenFolder(try Descriptor(name, in: folder, [.folder, .notThroughLink], purpose: purpose()))
  }

  /// The regular file of this name in this folder; nil if it is of another kind, `ELOOP` if it is a
  /// link. Neither waits for the other end of a FIFO nor takes a terminal.
  public func file(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFile? {
    OpenFile(
      try Descriptor(name, in: folder, [.notThroughLink, .withoutWaiting], purpose: purpose()))
  }

  /// What is said of what has this name in it; of a link, of the link itself.
  public func status(
    of name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> FileStatus {
    try FileStatus(of: name, in: folder, purpose: purpose())
  }

  /// The folder of this name in this one, made if it is absent (`mkdirat(2)`).
  public func makeFolder(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> OpenFolder {
    do throws(SystemError) {
      try retrying("mkdirat", purpose()) { mkdirat(folder.number, name, 0o777) }
    } catch  where error.code == EEXIST {}
    return try self.folder(named: name, purpose: purpose())
  }

  /// Takes the name of an empty folder in this one away, where it is there and is one (`unlinkat(2)`).
  public func removeFolder(named name: String) { unlinkat(folder.number, name, AT_REMOVEDIR) }

  /// A file of this name in this folder for reading and writing, empty: made, or taken over from a process that is
  /// gone, and locked as long as it is open here; nil if another process is making it.
  public func makeFile(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> Descriptor? {
    while true {
      let file = try Descriptor(
        name, in: folder, [.readingAndWriting, .creating, .notThroughLink], purpose: purpose())
      guard file.tryLock() else { return nil }
      // Who held the lock until now may have given the file another name.
      let opened = try file.status.number
      guard let named = try? status(of: name, purpose: ""), named.number == opened else { continue }
      try file.cut(to: 0)
      return file
    }
  }

  /// The file of this name in this folder for reading and writing, as it is, locked as long as it is open here; nil
  /// if another has it locked.
  ///
  /// - Throws: `SystemError`, also where there is none.
  public func takeFile(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> Descriptor? {
    while true {
      let file = try Descriptor(
        name, in: folder, [.readingAndWriting, .notThroughLink, .withoutWaiting], purpose: purpose()
      )
      guard file.tryLock() else { return nil }
      // Who held the lock until now may have given the file another name, or none.
      let opened = try file.status.number
      guard try status(of: name, purpose: purpose()).number == opened else { continue }
      return file
    }
  }

  /// Gives a file in this folder another name, in place of what had it (`renameat(2)`).
  public func rename(
    _ name: String, to newName: String, purpose: @autoclosure () -> String
  ) throws(SystemError) {
    try retrying("renameat", purpose()) {
      renameat(folder.number, name, folder.number, newName)
    }
  }

  /// Gives a file in this folder a name in another folder of the same file system, in place of what had it
  /// (`renameat(2)`).
  public func move(
    _ name: String, to other: OpenFolder, as newName: String, purpose: @autoclosure () -> String
  ) throws(SystemError) {
    try retrying("renameat", purpose()) {
      renameat(folder.number, name, other.folder.number, newName)
    }
  }

  /// A file of this name in this folder for reading and writing, as it is, or made empty.
  public func keepFile(
    named name: String, purpose: @autoclosure () -> String
  ) throws(SystemError) -> Descriptor {
    try Descriptor(
      name, in: folder, [.readingAndWriting, .creating, .notThroughLink], purpose: purpose())
  }

  /// Takes a file's name away, if it is there (`unlinkat(2)`).
  public func remove(_ name: String) { unlinkat(folder.number, name, 0) }

  /// The same, of a file that must be there.
  public func delete(_ name: String, purpose: @autoclosure () -> String) throws(SystemError) {
    _ = try retrying("unlinkat", purpose()) { unlinkat(folder.number, name, 0) }
  }

  /// Waits until the names in it are on the disk.
  public func sync() throws(SystemError) { try folder.sync() }

  /// Up to this number of its names, the first ones behind `last` in the order of their bytes; fewer only where there
  /// are no more. However many the folder holds, no more than twice as many are in memory.
  ///
  /// `.` and `..` are left out, and so is what `isWanted` does not want. Names are bytes, mostly UTF-8.
  public func names(
    after last: [UInt8]?, limit: Int, purpose: @autoclosure () -> String,
    where isWanted: ([UInt8]) -> Bool
  ) throws(SystemError) -> [[UInt8]] {
    precondition(limit > 0)
    // A descriptor of its own: the place in the listing is that of the descriptor.
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
