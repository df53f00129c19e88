import HTTP

/// Compressed bodies, kept by the hash of the uncompressed ones: a body is compressed once, not once
/// a request, and a request with the same bytes finds them here.
///
/// Nothing has to be invalidated: other bytes have another hash. The hash must be one of 128 bits, so
/// that two bodies never meet in one. Copies share one cache.
public struct EncodedBodies: Sendable {
  private struct Key: Hashable, Sendable {
    let high: UInt64
    let low: UInt64
    let coding: ContentCoding
  }

  private let compressor: Compressor
  private let cache: ByteBudgetCache<Key, [UInt8]>

  /// No bodies yet; they will take `maximumBytes` at the most. A body that takes more than an eighth
  /// of that is compressed each time.
  public init(maximumBytes: Int, compressor: Compressor = Compressor()) {
    self.compressor = compressor
    cache = ByteBudgetCache(maximumBytes: maximumBytes)
  }

  /// The body with this hash in a coding, if it is kept. `identity` never is.
  public func find(hash: (high: UInt64, low: UInt64), coding: ContentCoding) -> [UInt8]? {
    guard coding != .identity else { return nil }
    return cache.value(for: Key(high: hash.high, low: hash.low, coding: coding))
  }

  /// Compresses a body that has this hash and keeps the result; in `identity`, the bytes themselves,
  /// which are not kept.
  ///
  /// It takes the time of a compression and looks nothing up: call `find` first. Two threads that
  /// make the same body at once both compress it, and both get the same bytes.
  ///
  /// Throws `CompressionError`, and then keeps nothing.
  public func make(
    _ bytes: [UInt8], hash: (high: UInt64, low: UInt64), coding: ContentCoding
  ) throws(CompressionError) -> [UInt8] {
    guard coding != .identity else { return bytes }
    let encoded = try compressor.compress(bytes, as: coding)
    cache.insert(
      encoded, for: Key(high: hash.high, low: hash.low, coding: coding), bytes: encoded.count)
    return encoded
  }

  /// Compresses a body that is of one request alone, and keeps nothing of it.
  ///
  /// Throws `CompressionError`.
  public func makeOnce(
    _ bytes: [UInt8], coding: ContentCoding
  ) throws(CompressionError) -> [UInt8] {
    try compressor.compress(bytes, as: coding)
  }

  /// What was found and missed so far, and what is kept.
  public var figures: CacheFigures { cache.figures }
}
