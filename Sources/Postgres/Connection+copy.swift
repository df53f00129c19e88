import CPostgres

/// Rows that are brought into a table.
extension Connection {
  /// What is handed to libpq at once.
  private static let copyChunkBytes = 1 << 20

  /// Brings rows into a table (https://www.postgresql.org/docs/15/libpq-copy.html).
  ///
  /// - Parameter table: the table and its columns, `post (post_id, id)`, a text of the program's own.
  /// - Throws: `PostgresError`.
  public func copy(_ rows: CopyRows, into table: String) throws(PostgresError) {
    guard !isLost else { throw .lost(reason: "it was given up before") }
    guard rows.count > 0 else { return }
    guard PQsendQuery(handle, "COPY \(table) FROM STDIN (FORMAT binary)") == 1 else { throw lost() }
    var deadline = Self.deadline(after: limitMilliseconds)
    guard let begun = try nextResult(deadline) else { throw .unexpected("no answer to COPY") }
    defer { PQclear(begun) }
    guard PQresultStatus(begun) == PGRES_COPY_IN else {
      let error = Self.error(begun)
      try finish(deadline)
      throw noted(error)
    }
    let bytes = rows.finished
    var sent = 0
    while sent < bytes.count {
      let count = min(Self.copyChunkBytes, bytes.count - sent)
      let outcome = bytes.withUnsafeBytes { buffer in
        PQputCopyData(
          handle, buffer.baseAddress!.advanced(by: sent).assumingMemoryBound(to: CChar.self),
          Int32(count))
      }
      if outcome < 0 { throw lost() }
      if outcome == 1 { sent += count }
      deadline = Self.deadline(after: limitMilliseconds)
      try flush(deadline)
    }
    guard PQputCopyEnd(handle, nil) == 1 else { throw lost() }
    try finish(deadline)
  }
}
