/// Brings the bytes of a body that lie somewhere else, piece by piece, as the client takes them.
///
/// Theory of operation. A connection asks for a piece when the one before is about to leave, and for one at a time: of each
/// answer two are in memory at the most, however slow its client is. A piece that does not come ends the connection, since
/// the length of the body was promised.
public protocol PieceSource: Sendable {
  /// How many bytes are asked for at once.
  var pieceBytes: Int { get }

  /// Brings all of these bytes, or nil where they cannot be had: on any thread, once. Called on an event loop; must not
  /// block.
  func read(_ range: Range<Int>, _ completion: @escaping @Sendable ([UInt8]?) -> Void)
}

extension PieceSource {
  /// The first of these bytes that are asked for at once.
  func piece(of range: Range<Int>) -> Range<Int> {
    range.lowerBound..<min(range.upperBound, range.lowerBound + max(1, pieceBytes))
  }
}
