import Glibc

/// The metadata of a file (`stat(2)`).
public struct FileStatus: Sendable {
  /// The identity of a file, whatever its name.
  public struct Number: Sendable, Hashable {
    let device: dev_t
    let node: ino_t
  }

  /// The identity of the file.
  public let number: Number
  /// Its size in bytes.
  public let bytes: Int
  /// When its content last changed, or a time that a program has set.
  public let modified: Moment
  /// When its content or metadata last changed; no program can set it.
  public let changed: Moment
  /// The user who owns it.
  public let owner: UInt32
  /// The group that owns it.
  public let group: UInt32
  /// Its permissions: the lower nine bits of its mode (`chmod(2)`).
  public let permissions: UInt32
  private let kind: mode_t

  /// The metadata in the system's form.
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

  /// The metadata of the file at a path, following links.
  public init(path: String) throws(SystemError) {
    var status = stat()
    try retrying("stat", "inspect \(path)") { stat(path, &status) }
    self.init(status)
  }

  /// The metadata of the file with this name in a folder; of a link, of the link itself (`fstatat(2)`).
  init(of name: String, in folder: Descriptor, purpose: String) throws(SystemError) {
    var status = stat()
    try retrying("fstatat", purpose) {
      fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW)
    }
    self.init(status)
  }

  /// Whether it is a file with content, and not a folder, device, pipe or socket.
  public var isRegularFile: Bool { kind == S_IFREG }
  /// Whether it is a folder.
  public var isFolder: Bool { kind == S_IFDIR }
}
