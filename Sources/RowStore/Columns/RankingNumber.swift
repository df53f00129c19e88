/// The number of a ranking as the database has it.
///
/// The schema leaves it open upwards; a ranking after it must have a number, too, which JSON can tell.
package enum RankingNumber {
  package static let largest: Int64 = (1 << 53) - 1

  /// The number that is stored.
  ///
  /// - Throws: `RowError` for one that no program of ours wrote.
  package static func checked(_ stored: Int64) throws -> Int {
    guard (0...largest).contains(stored) else {
      throw RowError("the ranking \(stored) of a feed is not in 0…\(largest)")
    }
    return Int(stored)
  }
}
