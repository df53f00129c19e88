import Backups
import Foundation
import Logging
import SQLiteStore

/// Why the database was not migrated.
struct MigrationWithoutBackup: Error, CustomStringConvertible {
  let migrations: [String]
  let reason: any Error

  var description: String {
    "the database has to be migrated (\(migrations.joined(separator: ", "))), and the backup before "
      + "that failed; nothing was changed: \(reason)"
  }
}

extension BackupKeeper {
  /// A migration cannot be undone: the way back is the backup before it, which is made here where there
  /// is something to migrate.
  ///
  /// - Throws: `MigrationWithoutBackup`, `StoreError`.
  func makeBeforeMigration(_ logger: Logger) throws {
    guard FileManager.default.fileExists(atPath: database) else { return }
    let migrations = try Schema.status(path: database, options: options)
    let pending = migrations.filter { $0.appliedAt == nil }.map(\.name)
    guard !pending.isEmpty, pending.count < migrations.count else { return }
    do {
      let report = try make()
      noteNewest()
      logger.notice("backup made before a migration", metadata: ["file": "\(report.path)"])
    } catch {
      throw MigrationWithoutBackup(migrations: pending, reason: error)
    }
  }
}
