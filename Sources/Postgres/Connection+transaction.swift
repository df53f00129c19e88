extension Connection {
  /// How a transaction begins.
  public enum TransactionKind: String, Sendable {
    case writing = "BEGIN"
    /// Sees the database as of its first statement.
    case reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
  }

  /// What the statements answer, all of them as of one moment, in one round trip.
  ///
  /// - Throws: `PostgresError`.
  public func read(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
    do throws(PostgresError) {
      let kind = Statement(TransactionKind.reading.rawValue)
      return Array(try run([kind] + statements + [Statement("COMMIT")])[1...statements.count])
    } catch {
      if !isLost { _ = try? run("ROLLBACK") }
      throw error
    }
  }

  /// Runs the body within a transaction, which is undone where that throws.
  ///
  /// - Throws: `PostgresError`, what the body throws.
  public func transaction<Result>(
    _ kind: TransactionKind = .writing, _ body: () throws -> Result
  ) throws -> Result {
    try run(kind.rawValue)
    do {
      let result = try body()
      try run("COMMIT")
      return result
    } catch {
      if !isLost { _ = try? run("ROLLBACK") }
      throw error
    }
  }
}
