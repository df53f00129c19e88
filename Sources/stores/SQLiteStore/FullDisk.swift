import GRDBSQLite
import Glibc
import Synchronization

/// Makes SQLite return `SQLITE_FULL` whenever the system has no room for what is written.
///
/// SQLite itself treats only `ENOSPC` of a write as a full disk. To SQLite, an exhausted quota (`EDQUOT`)
/// and a full disk that is detected when the file is synced, truncated or mapped are I/O errors like any
/// other. By the time an error is thrown, its `errno` is lost: `sqlite3_system_errno` has no value for a
/// commit. So a VFS on top of the system's checks `errno` as each call fails.
enum FullDisk {
  /// Applies to all files that are opened from now on.
  static let isTold: Void = install()

  /// Whether the system refused something for lack of room.
  static func isReason(_ errno: CInt) -> Bool { errno == ENOSPC || errno == EDQUOT }

  // The default VFS, which stays registered for the life of the process.
  private nonisolated(unsafe) static let system = sqlite3_vfs_find(nil)

  /// The address of our methods of a file by that of the system's methods, which are stored after them.
  /// The system has a few kinds of files, so the allocations are never freed.
  private static let methods = Mutex<[UInt: UInt]>([:])

  /// The newest version of the methods and the VFS that is known here; later ones have more members.
  private static let knownVersion: CInt = 3

  private static func install() {
    guard let system else { return }
    let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    vfs.initialize(to: system.pointee)
    vfs.pointee.iVersion = min(system.pointee.iVersion, knownVersion)
    vfs.pointee.zName = UnsafePointer(strdup("lookahead"))
    vfs.pointee.pNext = nil
    vfs.pointee.xOpen = { vfs, path, file, flags, opened in
      guard let open = FullDisk.system?.pointee.xOpen else { return SQLITE_CANTOPEN }
      let result = FullDisk.told(open(vfs, path, file, flags, opened), Glibc.errno)
      if let file, let methods = file.pointee.pMethods {
        file.pointee.pMethods = FullDisk.methods(over: methods)
      }
      return result
    }
    sqlite3_vfs_register(vfs, 1)
  }

  private static func methods(
    over system: UnsafePointer<sqlite3_io_methods>
  ) -> UnsafePointer<sqlite3_io_methods>? {
    let address = methods.withLock { known in
      let key = UInt(bitPattern: system)
      if let made = known[key] { return made }
      let made = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 2)
      made.initialize(to: looking(at: system.pointee))
      (made + 1).initialize(to: system.pointee)
      known[key] = UInt(bitPattern: made)
      return UInt(bitPattern: made)
    }
    return UnsafePointer(bitPattern: address)
  }

  private static func looking(at system: sqlite3_io_methods) -> sqlite3_io_methods {
    var methods = system
    methods.iVersion = min(system.iVersion, knownVersion)
    methods.xWrite = { file, bytes, count, offset in
      FullDisk.told(FullDisk.system(file).xWrite(file, bytes, count, offset), file)
    }
    methods.xTruncate = { file, bytes in
      FullDisk.told(FullDisk.system(file).xTruncate(file, bytes), file)
    }
    methods.xSync = { file, flags in
      FullDisk.told(FullDisk.system(file).xSync(file, flags), file)
    }
    guard system.xShmMap != nil else { return methods }
    methods.xShmMap = { file, region, bytes, extends, memory in
      FullDisk.told(
        FullDisk.system(file).xShmMap(file, region, bytes, extends, memory), Glibc.errno)
    }
    return methods
  }

  /// Returns the system's methods, which are stored after those of the file.
  private static func system(_ file: UnsafeMutablePointer<sqlite3_file>?) -> sqlite3_io_methods {
    file!.pointee.pMethods[1]
  }

  /// Replaces an error by `SQLITE_FULL` if the disk was full. The file itself keeps the `errno` of its last
  /// failure, whatever SQLite did after that.
  private static func told(_ result: CInt, _ file: UnsafeMutablePointer<sqlite3_file>?) -> CInt {
    guard result != SQLITE_OK else { return result }
    var errno: CInt = 0
    guard system(file).xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &errno) == SQLITE_OK else {
      return result
    }
    return told(result, errno)
  }

  private static func told(_ result: CInt, _ errno: CInt) -> CInt {
    switch result & 0xff {
    case SQLITE_IOERR, SQLITE_CANTOPEN: isReason(errno) ? SQLITE_FULL : result
    default: result
    }
  }
}
