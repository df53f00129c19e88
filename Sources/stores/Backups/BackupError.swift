import SQLiteStore

/// The reason why a backup was not made or not restored.
package enum BackupError: Error, Equatable, Sendable {
  /// The file already exists, and the caller did not allow overwriting it.
  case exists(path: String)
  /// The backup would replace its own database.
  case isTheDatabase(path: String)
  /// Another program is making the same file.
  case isBeingMade(path: String)
  /// The copy was verified and has faults.
  case notSound(path: String, findings: [String])
  /// The backup has changed since it was made.
  case checksumDiffers(path: String)
  /// The file is a backup: to open it as a database would remove its checksum.
  case isABackup(path: String)
  /// The data read back differs from the data written.
  case readBackDiffers(path: String)
  /// There is no backup at the path.
  case missing(path: String)
  /// The file at the path cannot be a backup.
  case notABackup(path: String, reason: String)
}

extension BackupError: CustomStringConvertible {
  /// What is wrong and how to fix it.
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
  /// The findings that prevent the use of a copy.
  package var errors: [String] { findings.filter { $0.severity == .error }.map(\.text) }
}
