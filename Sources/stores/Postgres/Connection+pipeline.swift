import CPostgres

/// Statements in pipeline mode, one or many in one round trip
/// (https://www.postgresql.org/docs/15/libpq-pipeline-mode.html).
extension Connection {
  /// Runs statements in order, in one round trip. Outside a transaction they form one of their own: if one
  /// of them fails, the ones after it are not run and the ones before it are undone.
  ///
  /// - Returns: the result of each statement.
  /// - Throws: `PostgresError` of the first that failed.
  @discardableResult
  package func run(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
    guard !statements.isEmpty else { return [] }
    guard !isLost else { throw .lost(reason: "it was cancelled before") }
    try forgetOldPlans()
    guard PQenterPipelineMode(handle) == 1 else { throw lost() }
    var expected: [Expected] = []
    var values = try statements.map { statement throws(PostgresError) in
      try statement.parameters.map { parameter throws(PostgresError) in try parameter.encoded() }
    }
    for index in statements.indices {
      try send(statements[index], &values[index], &expected)
    }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    let deadline = Self.deadline(after: limitMilliseconds)
    var answers: [Rows] = []
    var failure: PostgresError?
    for expectation in expected {
      while let result = try nextResult(deadline) {
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
          switch expectation {
          case .preparation(let sql, let name):
            prepared[sql] = name
            PQclear(result)
          case .answer: answers.append(Rows(owning: result))
          }
        case PGRES_PIPELINE_ABORTED: PQclear(result)
        default:
          if failure == nil { failure = Self.error(result) }
          PQclear(result)
        }
      }
    }
    if let end = try nextResult(deadline) { PQclear(end) }
    guard PQexitPipelineMode(handle) == 1 else { throw lost() }
    if let failure { throw noted(failure) }
    guard answers.count == statements.count else { throw .unexpected("too few answers") }
    return answers
  }

  private enum Expected {
    case preparation(sql: String, name: String)
    case answer
  }

  private func send(
    _ statement: Statement, _ values: inout [[UInt8]?], _ expected: inout [Expected]
  ) throws(PostgresError) {
    let name: String
    let waiting = expected.lazy.compactMap { each -> String? in
      if case .preparation(statement.sql, let name) = each { name } else { nil }
    }
    if let known = prepared[statement.sql] ?? waiting.first {
      name = known
    } else {
      lastPrepared += 1
      name = "s\(lastPrepared)"
      guard PQsendPrepare(handle, name, statement.sql, 0, nil) == 1 else { throw lost() }
      expected.append(.preparation(sql: statement.sql, name: name))
    }
    let lengths = values.map { Int32(truncatingIfNeeded: $0?.count ?? 0) }
    guard values.allSatisfy({ $0?.count ?? 0 <= Int(Int32.max) }) else { throw giveUp(.tooLarge) }
    let formats = values.map { _ in Int32(1) }
    let isSent = Self.withPointers(to: values) { pointers in
      PQsendQueryPrepared(
        handle, name, Int32(values.count), pointers, lengths, formats, 1)
    }
    guard isSent == 1 else { throw lost() }
    expected.append(.answer)
  }

  private static func withPointers<Result>(
    to values: [[UInt8]?], _ body: ([UnsafePointer<CChar>?]) -> Result
  ) -> Result {
    // All values are in one buffer, in which pointers are valid as long as the buffer is. An empty value
    // has a pointer, too, since a null pointer stands for NULL.
    var bytes: [UInt8] = [0]
    let starts = values.map { value -> Int? in
      guard let value else { return nil }
      defer { bytes += value }
      return bytes.count - 1
    }
    bytes.append(0)
    return bytes.withUnsafeBytes { buffer in
      let base = buffer.baseAddress!.assumingMemoryBound(to: CChar.self)
      return body(starts.map { $0.map { base + $0 + 1 } })
    }
  }
}
