import Glibc
import Synchronization

/// An open file or folder; closed when nobody holds it any more. It is never handed on to another
/// program.
public final class Descriptor: Sendable {
  /// How a file is opened (`open(2)`); for reading alone unless it says otherwise.
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
    /// `O_NOFOLLOW`
    public static let notThroughLink = Access(rawValue: O_NOFOLLOW)
    /// `O_DIRECTORY`
    public static let folder = Access(rawValue: O_DIRECTORY)
    /// `O_NONBLOCK | O_NOCTTY`: neither waits for the other end of a FIFO nor takes a terminal.
    public static let withoutWaiting = Access(rawValue: O_NONBLOCK | O_NOCTTY)
  }

  /// What errors call it.
  public let path: String
  /// Its number.
  public let number: Int32
  private let isOwned: Bool
  /// It has locked the whole file.
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

  /// Opens what is at a path.
  public convenience init(
    _ path: String, _ access: Access = [], mode: mode_t = 0o600
  ) throws(SystemError) {
    let verb = access.rawValue & O_ACCMODE == O_RDONLY ? "read" : "write"
    let number = try retrying("open", "\(verb) \(path)") {
      open(path, access.rawValue | O_CLOEXEC, mode)
    }
    self.init(number, path: path, isOwned: true)
  }

  /// Opens what has this name in a folder, or a path from where the process is (`openat(2)`).
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
    // A program that this process is about to start has a copy of the descriptor until it begins: closing ours
    // alone would leave the file locked until then.
    if hasLocked.load(ordering: .relaxed) { flock(number, LOCK_UN) }
    // Not tried again when interrupted: Linux has freed the descriptor by then.
    close(number)
  }

  /// What is said of it.
  public var status: FileStatus {
    get throws(SystemError) {
      var status = stat()
      try retrying("fstat", "look at \(path)") { fstat(number, &status) }
      return FileStatus(status)
    }
  }

  /// How many bytes its file system has left for those without privileges (`statvfs(3)`).
  public var freeBytes: Int {
    get throws(SystemError) {
      var status = statvfs()
      try retrying("fstatvfs", "look at \(path)") { fstatvfs(number, &status) }
      return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
    }
  }

  /// Whether it is a terminal (`isatty(3)`).
  public static func isTerminal(_ number: Int32) -> Bool { isatty(number) == 1 }
}
