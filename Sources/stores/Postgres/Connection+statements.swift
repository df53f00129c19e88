import CPostgres

/// Statements, one at a time.
extension Connection {
  /// Runs one statement.
  ///
  /// - Throws: `PostgresError`.
  @discardableResult
  package func run(_ sql: String, _ parameters: [Parameter] = []) throws(PostgresError) -> Rows {
    try run([Statement(sql, parameters)])[0]
  }

  /// Runs one statement without values that is not prepared, since its columns differ each time.
  ///
  /// - Throws: `PostgresError`.
  package func runOnce(_ sql: String) throws(PostgresError) -> Rows {
    guard !isLost else { throw .lost(reason: "it was cancelled before") }
    guard PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1) == 1 else { throw lost() }
    let deadline = Self.deadline(after: limitMilliseconds)
    guard let result = try nextResult(deadline) else { throw .unexpected("no answer") }
    guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else {
      let error = Self.error(result)
      PQclear(result)
      try finish(deadline)
      throw noted(error)
    }
    let rows = Rows(owning: result)
    try finish(deadline)
    return rows
  }

  /// Runs statements without values, separated by semicolons: changes of schemas and settings. Outside a
  /// transaction they form one.
  ///
  /// - Throws: `PostgresError`.
  package func run(script: String) throws(PostgresError) {
    guard !isLost else { throw .lost(reason: "it was cancelled before") }
    guard PQsendQuery(handle, script) == 1 else { throw lost() }
    try finish(Self.deadline(after: limitMilliseconds))
  }

  /// Reads the rest of an answer.
  func finish(_ deadline: MonotonicDeadline) throws(PostgresError) {
    var failure: PostgresError?
    while let result = try nextResult(deadline) {
      switch PQresultStatus(result) {
      case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
      case PGRES_COPY_IN:
        // A script has no COPY; if nothing were done, it would wait for rows for ever.
        throw giveUp(.unexpected("COPY in a script"))
      default: if failure == nil { failure = Self.error(result) }
      }
      PQclear(result)
    }
    if let failure { throw noted(failure) }
  }
}
