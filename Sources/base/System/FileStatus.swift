import Glibc

/// What is said of a file (`stat(2)`).
public struct FileStatus: Sendable {
  /// Which file it is, whatever its name.
  public struct Number: Sendable, Hashable {
    let device: dev_t
    let node: ino_t
  }

  /// Which file it is.
  public let number: Number
  /// Its size.
  public let bytes: Int
  /// When its content last changed, or the time that a program set.
  public let modified: Moment
  /// When its content, or anything that is said of it, last changed: no program can set it.
  public let changed: Moment
  /// To whom it belongs.
  public let owner: UInt32
  /// The group to which it belongs.
  public let group: UInt32
  /// Who may do what with it: the lower nine bits of its mode (`chmod(2)`).
  public let permissions: UInt32
  private let kind: mode_t

  /// As the system tells it.
  public init(_ status: stat) {
    number = Number(device: status.st_dev, node: status.st_ino)
    bytes = Int(status.st_size)
    modified = Moment(status.st_mtim)
    changed = Moment(status.st_ctim)
    owner = status.st_uid
    group = status.st_gid
    permissions = status.st_mode & 0o777
    kind = status.st_mode & S_IFMT
  }

  /// Of what is at a path, through links.
  public init(path: String) throws(SystemError) {
    var status = stat()
    try retrying("stat", "inspect \(path)") { stat(path, &status) }
    self.init(status)
  }

  /// Of what has this name in a folder, where it is a link of that itself (`fstatat(2)`).
  init(of name: String, in folder: Descriptor, purpose: String) throws(SystemError) {
    var status = stat()
    try retrying("fstatat", purpose) {
      fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW)
    }
    self.init(status)
  }

  /// It is a file with content, and neither a folder nor a device, pipe or socket.
  public var isRegularFile: Bool { kind == S_IFREG }
  /// It is a folder.
  public var isFolder: Bool { kind == S_IFDIR }
}
