import CXXHash
import Migrations

/// A migration and whether the database has it.
package struct MigrationStatus: Hashable, Sendable {
  /// Counts from 1 without a gap.
  package let version: Int
  /// The file's name without its ending, `0001-store`.
  package let name: String
  /// When it was applied, RFC 3339; `nil` where it is pending.
  package let appliedAt: String?
}

/// Why a database is not one of this program's, as its migrations say.
package enum MigrationProblem: Error, Hashable, Sendable {
  /// A migration that was applied has another text by now.
  case edited(name: String)
  /// A migration that was applied is not one of this program's.
  case unknown(version: Int, name: String)
  /// The database was migrated by a newer program.
  case newer(version: Int, newestKnown: Int)
  /// The database is older than the first migration of this program: this is the last one that it has.
  case older(name: String)
}

extension MigrationProblem: CustomStringConvertible {
  /// One line with the migration.
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

/// A migration as the table `schema_migration` has it.
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

/// The migrations that a program knows, held against those that a database has.
package struct MigrationHistory: Sendable {
  package let migrations: [Migration]

  /// The last of the migrations that came to what the first one is now.
  private static let joined = (version: 15, name: "0015-compared-checks")

  /// - Parameter migrations: numbered from 1 without a gap.
  package init(_ migrations: [Migration]) {
    precondition(
      migrations.map(\.version)
        == Array(1...max(1, migrations.count)).prefix(migrations.count).map { $0 })
    self.migrations = migrations
  }

  /// What a database has of these migrations. One that has all of those from before the first release is a database
  /// with the first one.
  package func adopted(_ records: [MigrationRecord]) -> [MigrationRecord] {
    guard let last = records.last, let first = migrations.first,
      records.count == Self.joined.version, last.name == Self.joined.name
    else { return records }
    return [
      MigrationRecord(
        version: 1, name: first.name, checksum: Self.checksum(first.sql), appliedAt: last.appliedAt)
    ]
  }

  /// Every migration, with when it was applied. The number alone does not tell: a database of before the first release
  /// has other migrations of these numbers.
  package func status(_ records: [MigrationRecord]) -> [MigrationStatus] {
    migrations.map { migration in
      let record = records.first {
        $0.version == migration.version && $0.name == migration.name
      }
      return MigrationStatus(
        version: migration.version, name: migration.name, appliedAt: record?.appliedAt)
    }
  }

  /// Those that the database does not have.
  package func pending(_ records: [MigrationRecord]) -> [Migration] {
    let known = Set(records.map(\.version))
    return migrations.filter { !known.contains($0.version) }
  }

  /// Sees that what was applied is what this program has.
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
