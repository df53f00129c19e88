/// Where a file's bytes come from: a file, or a URL that is read by ranges. The parsers ask for what they
/// need and no more, in few pieces, and keep none of it for longer than they look at it.
public protocol ByteSource {
  /// How many bytes the file has. Of a file that grows or shrinks: how many it had when it was opened.
  var size: Int64 { get }

  /// The `count` bytes from `offset` on, fewer only where the file ends before the size that it was said to
  /// have. It is asked for at least one byte, and for none behind `size`. What it throws leaves the parser
  /// as it is.
  func bytes(at offset: Int64, count: Int) throws -> [UInt8]
}

/// A file that is in memory as a whole.
public struct BytesInMemory: ByteSource, Sendable {
  private let all: [UInt8]

  /// A file of these bytes.
  public init(_ bytes: [UInt8]) { all = bytes }

  /// How many bytes it has.
  public var size: Int64 { Int64(all.count) }

  /// A copy of a piece of it.
  public func bytes(at offset: Int64, count: Int) -> [UInt8] {
    Array(all.dropFirst(Int(offset)).prefix(count))
  }
}
