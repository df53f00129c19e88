import CPostgres

/// The result of a statement: rows of values in binary, as they are in libpq's memory.
///
/// `@unchecked`: a result never changes, and libpq may read it from any thread
/// (https://www.postgresql.org/docs/15/libpq-threading.html); it is freed with the last reference.
package final class Rows: @unchecked Sendable {
  private let result: OpaquePointer
  /// The number of rows.
  package let count: Int
  /// The number of rows that the statement inserted, changed or deleted; 0 if that does not apply.
  package let changedCount: Int

  init(owning result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
    changedCount = Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  deinit { PQclear(result) }

  /// Whether the value is NULL.
  package func isNull(_ row: Int, _ column: Int) -> Bool {
    PQgetisnull(result, Int32(row), Int32(column)) != 0
  }

  /// The value's bytes, `nil` for NULL. They are valid as long as these rows exist.
  package func bytes(_ row: Int, _ column: Int) -> UnsafeBufferPointer<UInt8>? {
    guard !isNull(row, column) else { return nil }
    let count = Int(PQgetlength(result, Int32(row), Int32(column)))
    guard let start = PQgetvalue(result, Int32(row), Int32(column)) else { return nil }
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
  }

  /// The text, `nil` for NULL.
  package func text(_ row: Int, _ column: Int) -> String? {
    bytes(row, column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// The whole number or boolean, of any size; `nil` for NULL and for a value of another size.
  package func integer(_ row: Int, _ column: Int) -> Int64? {
    guard let bytes = bytes(row, column) else { return nil }
    func number<Number: FixedWidthInteger>(_: Number.Type) -> Int64 {
      Int64(Number(bigEndian: UnsafeRawPointer(bytes.baseAddress!).loadUnaligned(as: Number.self)))
    }
    return switch bytes.count {
    case 1: Int64(bytes[0])
    case 2: number(Int16.self)
    case 4: number(Int32.self)
    case 8: number(Int64.self)
    default: nil
    }
  }

  /// The boolean; `false` for NULL.
  package func boolean(_ row: Int, _ column: Int) -> Bool { integer(row, column) == 1 }
}
