import SQLiteStore
import System

extension Backup {
  /// Reads a backup through as it lies, with its check sum, and writes nothing.
  ///
  /// - Returns: what is in it; nil where the file is no sealed backup, or there is none.
  /// - Throws: `BackupError.checksumDiffers`, `StoreError`, `SystemError`.
  public static func examine(_ path: String) throws -> DatabaseCopy.Report? {
    guard let file = try sealed(path) else { return nil }
    guard case .whole = try BackupSeal.look(at: file) else {
      throw BackupError.checksumDiffers(path: path)
    }
    return try DatabaseCopy(of: path, at: path).verify()
  }

  /// - Throws: `BackupError.isABackup` for a sealed backup: what opens it takes the seal off.
  public static func requireNone(at path: String) throws {
    if try sealed(path) != nil { throw BackupError.isABackup(path: path) }
  }

  /// The file, where it ends in a seal; what cannot be opened is for others to tell.
  private static func sealed(_ path: String) throws -> Descriptor? {
    guard let found = try? FileStatus(path: path), found.isRegularFile,
      let file = try? Descriptor(path), try BackupSeal.isThere(in: file)
    else { return nil }
    return file
  }
}
