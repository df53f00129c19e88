import System

extension SQLiteStore {
  /// How many bytes the database and its write-ahead log have (https://sqlite.org/wal.html); 0 where
  /// there is no such file.
  public var fileBytes: (database: Int, writeAheadLog: Int) {
    (Self.size(pool.file), Self.size(pool.file + "-wal"))
  }

  private static func size(_ path: String) -> Int { (try? FileStatus(path: path).bytes) ?? 0 }
}
