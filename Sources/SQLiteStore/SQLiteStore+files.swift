import Glibc

extension SQLiteStore {
  /// How many bytes the database and its write-ahead log have (https://sqlite.org/wal.html); 0 where
  /// there is no such file.
  public var fileBytes: (database: Int, writeAheadLog: Int) {
    (Self.size(pool.file), Self.size(pool.file + "-wal"))
  }

  private static func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }
}
