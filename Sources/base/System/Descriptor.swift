import CLinux
import Glibc
import Synchronization

/// An open file or folder; closed with its last reference. Other programs never inherit it.
public final class Descriptor: Sendable {
  /// The mode in which a file is opened (`open(2)`); for reading only by default.
  public struct Access: OptionSet, Sendable {
    /// The flags.
    public let rawValue: Int32

    /// These flags.
    public init(rawValue: Int32) { self.rawValue = rawValue }

    /// `O_RDWR`
    public static let readingAndWriting = Access(rawValue: O_RDWR)
    /// `O_WRONLY | O_APPEND`
    public static let appending = Access(rawValue: O_WRONLY | O_APPEND)
    /// `O_CREAT`
    public static let creating = Access(rawValue: O_CREAT)
    /// `O_EXCL`: fails if there is a file.
    public static let new = Access(rawValue: O_EXCL)
    /// `O_NOFOLLOW`
    public static let notThroughLink = Access(rawValue: O_NOFOLLOW)
    /// `O_DIRECTORY`
    public static let folder = Access(rawValue: O_DIRECTORY)
    /// `O_NONBLOCK | O_NOCTTY`: neither waits for the other end of a FIFO nor takes a terminal.
    public static let withoutWaiting = Access(rawValue: O_NONBLOCK | O_NOCTTY)
  }

  /// The name that errors use.
  public let path: String
  /// The descriptor's number.
  public let number: Int32
  private let isOwned: Bool
  /// Whether it has locked the whole file.
  let hasLocked = Atomic<Bool>(false)

  /// Standard input, which is not closed.
  public static let standardInput = Descriptor(0, path: "standard input", isOwned: false)

  private init(_ number: Int32, path: String, isOwned: Bool) {
    self.number = number
    self.path = path
    self.isOwned = isOwned
  }

  /// Takes over an open descriptor.
  convenience init(taking number: Int32, path: String) {
    self.init(number, path: path, isOwned: true)
  }

  /// Opens the file or folder at a path.
  public convenience init(
    _ path: String, _ access: Access = [], mode: mode_t = 0o600
  ) throws(SystemError) {
    let verb = access.rawValue & O_ACCMODE == O_RDONLY ? "read" : "write"
    let number = try retrying("open", "\(verb) \(path)") {
      open(path, access.rawValue | O_CLOEXEC, mode)
    }
    self.init(number, path: path, isOwned: true)
  }

  /// Opens the file or folder with this name in a folder, or at a path relative to the working directory
  /// (`openat(2)`).
  convenience init(
    _ name: String, in folder: Descriptor?, _ access: Access, purpose: @autoclosure () -> String
  ) throws(SystemError) {
    let number = try retrying("openat", purpose()) {
      openat(folder?.number ?? AT_FDCWD, name, access.rawValue | O_CLOEXEC, 0o600)
    }
    self.init(number, path: name, isOwned: true)
  }

  deinit {
    guard isOwned else { return }
    // A program that this process is about to start has a copy of the descriptor until it begins: the file
    // would stay locked until then if only this one was closed.
    if hasLocked.load(ordering: .relaxed) { flock(number, LOCK_UN) }
    // Not retried when interrupted: Linux has freed the descriptor by then.
    close(number)
  }

  /// The metadata of the file (`fstat(2)`).
  public var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      try retrying("fstat", "inspect \(path)") { fstat(number, &status) }
      return FileStatus(status)
    }
  }

  /// The number of bytes that unprivileged users can still write to its file system (`statvfs(3)`).
  public var freeBytes: Int {
    get throws(SystemError) {
      var status = statvfs()
      try retrying("fstatvfs", "inspect \(path)") { fstatvfs(number, &status) }
      return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
    }
  }

  /// Whether a descriptor is a terminal (`isatty(3)`).
  public static func isTerminal(_ number: Int32) -> Bool { isatty(number) == 1 }
}

extension Descriptor {
  /// Reads up to `count` bytes from the offset on; fewer only at the end of the file.
  public func read(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try fill(buffer.baseAddress, offset..<(offset + count))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads the bytes of the range, fewer only at the end of the file; returns their number.
  func fill(
    _ target: UnsafeMutablePointer<UInt8>?, _ range: Range<Int>
  ) throws(SystemError) -> Int {
    var filled = 0
    while filled < range.count {
      let done = try retrying("pread", "read \(path)") {
        pread(
          number, target.map { $0 + filled }, range.count - filled,
          off_t(range.lowerBound + filled))
      }
      if done == 0 { break }
      filled += done
    }
    return filled
  }

  /// Reads up to `count` bytes at the file's position; none at its end.
  public func readNext(atMost count: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try retrying("read", "read \(path)") {
          Glibc.read(number, buffer.baseAddress, count)
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Calls the body with the file's bytes, one piece at a time.
  public func readPieces(_ body: ([UInt8]) throws -> Void) throws {
    let pieceBytes = 1 << 18
    var offset = 0
    while true {
      let piece = try read(at: offset, count: pieceBytes)
      if !piece.isEmpty { try body(piece) }
      if piece.count < pieceBytes { return }
      offset += piece.count
    }
  }

  /// Writes all bytes at the file's position.
  public func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try retrying("write", "write \(path)") {
        bytes.withUnsafeBytes {
          Glibc.write(number, $0.baseAddress.map { $0 + written }, $0.count - written)
        }
      }
    }
  }

  /// Writes all bytes from the offset on.
  public func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try retrying("pwrite", "write \(path)") {
        bytes.withUnsafeBytes {
          pwrite(
            number, $0.baseAddress.map { $0 + written }, $0.count - written,
            off_t(offset + written))
        }
      }
    }
  }

  /// Writes to a descriptor that may be non-blocking, waiting until it accepts more; returns the number of
  /// bytes written before the first failure.
  public static func writeAll(_ bytes: [UInt8], to number: Int32) -> Int {
    bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let outcome = try? retryingOrBlocking("write", "write") {
          Glibc.write(number, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        }
        switch outcome {
        case .done(let count) where count > 0: written += count
        case .wouldBlock:
          var polled = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
          poll(&polled, 1, -1)
        default: return written
        }
      }
      return written
    }
  }

  /// Truncates the file to this many bytes.
  public func cut(to count: Int) throws(SystemError) {
    try retrying("ftruncate", "write \(path)") { ftruncate(number, off_t(count)) }
  }

  /// Waits until the bytes written so far are on the disk (`fdatasync(2)`).
  public func syncData() throws(SystemError) {
    try retrying("fdatasync", "write \(path)") { fdatasync(number) }
  }

  /// Waits until the whole file, or the names in the folder, are on the disk (`fsync(2)`).
  public func sync() throws(SystemError) {
    try retrying("fsync", "write \(path)") { fsync(number) }
  }

  /// Sets its permissions.
  public func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try retrying("fchmod", "set the mode of \(path)") { fchmod(number, permissions) }
  }

  /// Sets its owner and group.
  public func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
    try retrying("fchown", "set the owner of \(path)") { fchown(number, owner, group) }
  }

  /// Sets the time of its last modification (`futimens(2)`).
  public func setModified(_ moment: Moment) throws(SystemError) {
    let time = timespec(tv_sec: moment.secondsSince1970, tv_nsec: moment.nanoseconds)
    var times = [time, time]
    try retrying("futimens", "set the time of \(path)") { futimens(number, &times) }
  }

  /// Makes this descriptor refer to what another one refers to; its number stays (`dup3(2)`).
  public func become(_ other: Descriptor) throws(SystemError) {
    try retrying("dup3", "write \(path)") { dup3(other.number, number, O_CLOEXEC) }
  }
}

extension Descriptor {
  /// `F_OFD_GETLK` and `F_OFD_SETLK`: locks of an open file instead of a process (`fcntl(2)`), so that other
  /// descriptors of the file in this process neither share nor release them.
  private static let getLock: Int32 = 36
  private static let setLock: Int32 = 37

  /// Locks the whole file while it is open here (`flock(2)`); false if another descriptor has locked it.
  public func tryLock() -> Bool {
    guard flock(number, LOCK_EX | LOCK_NB) == 0 else { return false }
    hasLocked.store(true, ordering: .relaxed)
    return true
  }

  /// Locks a range of bytes while the file is open here.
  ///
  /// - Throws: `SystemError`, also if another process has locked some of them.
  public func lockBytes(_ bytes: Range<Int>) throws(SystemError) {
    var request = Self.request(bytes)
    try retrying("fcntl", "lock \(path)") { fcntl(number, Self.setLock, &request) }
  }

  /// Locks a range of bytes, waiting for others that have locked some of them. It retries every 2 ms, so it
  /// suits locks that are held for a short time.
  public func waitToLockBytes(_ bytes: Range<Int>) throws(SystemError) {
    while true {
      do throws(SystemError) {
        return try lockBytes(bytes)
      } catch {
        guard error.code == EAGAIN || error.code == EACCES else { throw error }
        CurrentThread.rest(nanoseconds: 2_000_000)
      }
    }
  }

  /// Whether another process has locked any of these bytes.
  public func isLocked(_ bytes: Range<Int>) throws(SystemError) -> Bool {
    var request = Self.request(bytes)
    try retrying("fcntl", "inspect \(path)") { fcntl(number, Self.getLock, &request) }
    return request.l_type != Int16(F_UNLCK)
  }

  private static func request(_ bytes: Range<Int>) -> flock {
    var request = flock()
    request.l_type = Int16(F_WRLCK)
    request.l_whence = Int16(SEEK_SET)
    request.l_start = off_t(bytes.lowerBound)
    request.l_len = off_t(bytes.count)
    return request
  }
}

/// The maximum number of descriptors of the process (`RLIMIT_NOFILE`).
public enum DescriptorLimit {
  /// The limit, and the maximum to which the process may raise it; nil if the system does not give them.
  static var current: rlimit? {
    var limit = rlimit()
    return getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 ? limit : nil
  }

  /// Raises the limit to its maximum, and returns it.
  @discardableResult
  public static func raise() -> Int {
    guard var limit = current else { return 0 }
    if limit.rlim_cur < limit.rlim_max {
      var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
      if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}
