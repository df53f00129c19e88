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

  /// The same, and what a statement answers before all that: in the same round trip, but in a transaction of its own.
  /// What it tells of how far the server has come, the others see.
  ///
  /// - Throws: `PostgresError`.
  public func read(_ statements: [Statement], after first: Statement) throws(PostgresError) -> (
    first: Rows, rows: [Rows]
  ) {
    do throws(PostgresError) {
      let (before, end) = (Statement(TransactionKind.writing.rawValue), Statement("COMMIT"))
      let kind = Statement(TransactionKind.reading.rawValue)
      let answers = try run([before, first, end, kind] + statements + [end])
      return (answers[1], Array(answers[4..<4 + statements.count]))
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
