import Glibc
import SQLiteStore

extension Backup {
  /// Reads a backup through as it lies, with its check sum, and writes nothing.
  ///
  /// - Returns: what is in it; nil where the file is no sealed backup, or there is none.
  /// - Throws: `BackupError.checksumDiffers`, `StoreError`, `FileError`.
  public static func examine(_ path: String) throws -> DatabaseCopy.Report? {
    guard status(of: path) != nil else { return nil }
    let file = try Descriptor(path, O_RDONLY)
    guard try BackupSeal.isThere(in: file) else { return nil }
    guard case .whole = try BackupSeal.look(at: file) else {
      throw BackupError.checksumDiffers(path: path)
    }
    return try DatabaseCopy(of: path, at: path).verify()
  }

  /// - Throws: `BackupError.isABackup` for a sealed backup: what opens it takes the seal off.
  public static func requireNone(at path: String) throws {
    guard status(of: path) != nil, let file = try? Descriptor(path, O_RDONLY) else { return }
    if try BackupSeal.isThere(in: file) { throw BackupError.isABackup(path: path) }
  }
}
