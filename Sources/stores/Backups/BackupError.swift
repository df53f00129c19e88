import SQLiteStore

/// Why a backup was not made or not restored.
package enum BackupError: Error, Equatable, Sendable {
  /// The file already exists, and the caller did not allow overwriting it.
  case exists(path: String)
  /// The backup would replace its own database.
  case isTheDatabase(path: String)
  /// Somebody is making the same file.
  case isBeingMade(path: String)
  /// The copy was read through and has faults.
  case notSound(path: String, findings: [String])
  /// The backup is not what it was when it was made.
  case checksumDiffers(path: String)
  /// The file is a backup: to open it as a database would take its check sum off.
  case isABackup(path: String)
  /// What was read back is not what was written.
  case readBackDiffers(path: String)
  /// There is nothing at the path to restore.
  case missing(path: String)
  /// What is at the path cannot be a backup.
  case notABackup(path: String, reason: String)
}

extension BackupError: CustomStringConvertible {
  /// What is wrong and what mends it.
  package var description: String {
    switch self {
    case .exists(let path): "\(path) exists; use --overwrite to replace it"
    case .isTheDatabase(let path): "\(path) is the database itself"
    case .isBeingMade(let path): "another program is writing \(path)"
    case .notSound(let path, let findings):
      "\(path) is not sound:\n" + findings.joined(separator: "\n")
    case .checksumDiffers(let path):
      "\(path) is damaged: its checksum does not match"
    case .isABackup(let path):
      "\(path) is a backup, and using it would remove its checksum: restore it to another path "
        + "with `lookahead restore`"
    case .readBackDiffers(let path):
      "\(path) differs from what was written: the disk may be faulty"
    case .missing(let path): "there is no backup \(path)"
    case .notABackup(let path, let reason): "\(path) is not a backup of a database: \(reason)"
    }
  }
}

extension DatabaseCopy.Report {
  /// What keeps a copy from being used.
  package var errors: [String] { findings.filter { $0.severity == .error }.map(\.text) }
}
