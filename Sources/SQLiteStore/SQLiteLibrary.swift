import GRDBSQLite

/// The SQLite that this program runs with, which the system brings.
public enum SQLiteLibrary {
  /// Its release: `3.40.1`.
  public static var version: String { String(cString: sqlite3_libversion()) }

  /// Whether it can lose committed writes where one connection begins a checkpoint while another begins
  /// the WAL anew (https://sqlite.org/wal.html#walresetbug).
  public static var hasLogResetRace: Bool { hasLogResetRace(Int(sqlite3_libversion_number())) }

  /// The same of a release, as `sqlite3_libversion_number()` writes it: 3.40.1 is 3040001.
  static func hasLogResetRace(_ number: Int) -> Bool {
    switch number {
    // There was no WAL before.
    case ..<3_007_000: false
    case 3_044_006..<3_045_000, 3_050_007..<3_051_000, 3_051_003...: false
    default: true
    }
  }

  /// What it is, and what is done about it, for a person.
  public static var summary: String {
    hasLogResetRace
      ? "SQLite \(version); its WAL-reset bug loses nothing here, since every checkpoint holds the write lock"
      : "SQLite \(version), without the WAL-reset bug; every checkpoint holds the write lock all the same"
  }
}
