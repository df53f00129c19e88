/// Provides the bytes of a body that lie elsewhere, piece by piece, as the client reads them.
///
/// Theory of operation. A connection requests one piece at a time, when the one before is about to leave: at
/// most two pieces of each answer are in memory, however slow its client is. A missing piece ends the
/// connection, since the length of the body was promised.
public protocol PieceSource: Sendable {
  /// The number of bytes that are requested at once.
  var pieceBytes: Int { get }

  /// Reads all of these bytes, and calls `completion` once, on any thread, with the bytes or with nil if they
  /// cannot be read. Called on an event loop; must not block.
  func read(_ range: Range<Int>, _ completion: @escaping @Sendable ([UInt8]?) -> Void)
}

extension PieceSource {
  /// The first bytes of the range, as many as are requested at once.
  func piece(of range: Range<Int>) -> Range<Int> {
    range.lowerBound..<min(range.upperBound, range.lowerBound + max(1, pieceBytes))
  }
}
