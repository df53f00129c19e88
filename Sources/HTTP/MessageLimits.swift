/// How large each part of a request may be; past it the message is refused and the connection ends.
public struct MessageLimits: Sendable, Equatable {
  /// The request line without its CRLF; past it 414.
  public var requestLineBytes: Int
  /// All field lines together; past it 431.
  public var headerBlockBytes: Int
  /// Field lines; past it 431.
  public var headerFields: Int
  /// The body after any chunking is taken off; past it 413. A route may have another limit.
  public var bodyBytes: Int
  /// One line of a chunk's size and extensions; past it 400.
  public var chunkLineBytes: Int
  /// All chunk extensions of one body together, which nobody reads; past it 400.
  public var chunkExtensionBytes: Int
  /// All trailer lines together; past it 431.
  public var trailerBlockBytes: Int
  /// Trailer lines; past it 431.
  public var trailerFields: Int

  /// The documented defaults, or others.
  public init(
    requestLineBytes: Int = 8192, headerBlockBytes: Int = 16_384, headerFields: Int = 100,
    bodyBytes: Int = 1 << 20, chunkLineBytes: Int = 1024, chunkExtensionBytes: Int = 16_384,
    trailerBlockBytes: Int = 4096, trailerFields: Int = 32
  ) {
    self.requestLineBytes = requestLineBytes
    self.headerBlockBytes = headerBlockBytes
    self.headerFields = headerFields
    self.bodyBytes = bodyBytes
    self.chunkLineBytes = chunkLineBytes
    self.chunkExtensionBytes = chunkExtensionBytes
    self.trailerBlockBytes = trailerBlockBytes
    self.trailerFields = trailerFields
  }
}
