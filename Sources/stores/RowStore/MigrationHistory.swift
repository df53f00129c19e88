import CXXHash
import Migrations

/// A migration and whether the database has it.
package struct MigrationStatus: Hashable, Sendable {
  /// The version, from 1, without gaps.
  package let version: Int
  /// The file's name without its extension, `0001-store`.
  package let name: String
  /// The time at which it was applied, RFC 3339; `nil` if it is pending.
  package let appliedAt: String?
}

/// The reason why a database's migrations are not this program's.
package enum MigrationProblem: Error, Hashable, Sendable {
  /// The text of an applied migration has changed.
  case edited(name: String)
  /// An applied migration is not one of this program's.
  case unknown(version: Int, name: String)
  /// The database was migrated by a newer program.
  case newer(version: Int, newestKnown: Int)
  /// The database is older than this program's first migration; `name` is the last one that it has.
  case older(name: String)
}

extension MigrationProblem: CustomStringConvertible {
  /// What is wrong, in one line with the migration.
  package var description: String {
    switch self {
    case .edited(let name):
      "the migration \(name) was edited after it had been applied: its checksum differs"
    case .unknown(let version, let name):
      "the database has a migration \(version) named \(name), which this program does not know"
    case .newer(let version, let newestKnown):
      "the database is at migration \(version), newer than this program (migration "
        + "\(newestKnown)): use the newer program"
    case .older(let name):
      "the database is at migration \(name), older than this program's first: migrate it with "
        + "the program of commit b3d4a60 (`lookahead migrate up`), then use this one"
    }
  }
}

/// A migration in the table `schema_migration`.
package struct MigrationRecord {
  package let version: Int
  package let name: String
  package let checksum: String
  package let appliedAt: String

  package init(version: Int, name: String, checksum: String, appliedAt: String) {
    self.version = version
    self.name = name
    self.checksum = checksum
    self.appliedAt = appliedAt
  }
}

/// The migrations that a program knows, compared with those that a database has.
package struct MigrationHistory: Sendable {
  package let migrations: [Migration]

  /// The last of the migrations that were joined into the present first one.
  private static let joined = (version: 15, name: "0015-compared-checks")

  /// - Parameter migrations: numbered from 1 without gaps.
  package init(_ migrations: [Migration]) {
    precondition(
      migrations.map(\.version)
        == Array(1...max(1, migrations.count)).prefix(migrations.count).map { $0 })
    self.migrations = migrations
  }

  /// Returns the records in terms of these migrations: a database with all those from before the first
  /// release has the first one.
  package func adopted(_ records: [MigrationRecord]) -> [MigrationRecord] {
    guard let last = records.last, let first = migrations.first,
      records.count == Self.joined.version, last.name == Self.joined.name
    else { return records }
    return [
      MigrationRecord(
        version: 1, name: first.name, checksum: Self.checksum(first.sql), appliedAt: last.appliedAt)
    ]
  }

  /// Returns every migration, with the time at which it was applied. The number alone does not identify a
  /// migration: a database from before the first release has other migrations with these numbers.
  package func status(_ records: [MigrationRecord]) -> [MigrationStatus] {
    migrations.map { migration in
      let record = records.first {
        $0.version == migration.version && $0.name == migration.name
      }
      return MigrationStatus(
        version: migration.version, name: migration.name, appliedAt: record?.appliedAt)
    }
  }

  /// Returns the migrations that the database lacks.
  package func pending(_ records: [MigrationRecord]) -> [Migration] {
    let known = Set(records.map(\.version))
    return migrations.filter { !known.contains($0.version) }
  }

  /// Checks that the applied migrations are this program's.
  package func verify(_ records: [MigrationRecord]) throws(MigrationProblem) {
    if let first = records.first, let last = records.last, first.name == "0001-feeds" {
      throw .older(name: last.name)
    }
    for record in records {
      let migration = migrations.first { $0.version == record.version }
      if migration == nil, record.version > migrations.count {
        throw .newer(version: record.version, newestKnown: migrations.count)
      }
      guard let migration, migration.name == record.name else {
        throw .unknown(version: record.version, name: record.name)
      }
      guard Self.checksum(migration.sql) == record.checksum else {
        throw .edited(name: migration.name)
      }
    }
  }

  /// XXH3, 128 bits, as xxh128sum prints it.
  package static func checksum(_ text: String) -> String {
    var text = text
    let hash = text.withUTF8 { lookahead_xxh3_128($0.baseAddress, $0.count) }
    func hexadecimal(_ value: UInt64) -> String {
      let digits = String(value, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return hexadecimal(hash.high) + hexadecimal(hash.low)
  }
}
