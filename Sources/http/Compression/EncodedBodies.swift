import HTTP

/// Compressed bodies, cached by the hash of the uncompressed ones: a body is compressed once, and not for
/// each request with the same bytes.
///
/// Nothing has to be invalidated, since other bytes have another hash. The hash must have 128 bits, so that
/// no two bodies have the same one. Copies share one cache.
public struct EncodedBodies: Sendable {
  private struct Key: Hashable, Sendable {
    let high: UInt64
    let low: UInt64
    let coding: ContentCoding
  }

  private let compressor: Compressor
  private let cache: ByteBudgetCache<Key, [UInt8]>

  /// An empty cache of at most `maximumBytes`. A body that takes more than an eighth of that is compressed
  /// each time.
  public init(maximumBytes: Int, compressor: Compressor = Compressor()) {
    self.compressor = compressor
    cache = ByteBudgetCache(maximumBytes: maximumBytes)
  }

  /// The body with this hash in a coding; nil if it is not cached. `identity` never is.
  public func find(hash: (high: UInt64, low: UInt64), coding: ContentCoding) -> [UInt8]? {
    guard coding != .identity else { return nil }
    return cache.value(for: Key(high: hash.high, low: hash.low, coding: coding))
  }

  /// Compresses a body with this hash and caches the result; in `identity` it returns the bytes themselves,
  /// which are not cached.
  ///
  /// It takes the time of a compression and does not look up the cache: call `find` first. Two threads that
  /// make the same body at once both compress it, and both get the same bytes.
  ///
  /// - Throws: `CompressionError`, and then caches nothing.
  public func make(
    _ bytes: [UInt8], hash: (high: UInt64, low: UInt64), coding: ContentCoding
  ) throws(CompressionError) -> [UInt8] {
    guard coding != .identity else { return bytes }
    let encoded = try compressor.compress(bytes, as: coding)
    cache.insert(
      encoded, for: Key(high: hash.high, low: hash.low, coding: coding), bytes: encoded.count)
    return encoded
  }

  /// Compresses a body of a single request, and caches nothing.
  ///
  /// - Throws: `CompressionError`.
  public func makeOnce(
    _ bytes: [UInt8], coding: ContentCoding
  ) throws(CompressionError) -> [UInt8] {
    try compressor.compress(bytes, as: coding)
  }

  /// The hits and misses so far, and what is cached.
  public var figures: CacheFigures { cache.figures }
}
