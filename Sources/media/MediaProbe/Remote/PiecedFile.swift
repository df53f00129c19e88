import MediaFormats
import System

/// A remote file whose pieces are fetched on demand. They are kept in a file without a name at their offsets,
/// so that a decoder reads them like a local file.
package final class PiecedFile: ByteSource {
  /// The fetched pieces, each in its place.
  let scratch: ScratchFile
  package let size: Int64
  private let limitBytes: Int
  private let ask: (Range<Int>) throws -> ArraySlice<UInt8>
  private var fetchedBytes = 0
  /// The fetched ranges: ascending and not adjacent.
  private var pieces: [Range<Int>] = []

  /// Creates a file.
  ///
  /// - Parameters:
  ///   - size: the size of the file.
  ///   - first: the first bytes, which are already known.
  ///   - limitBytes: the maximum number of bytes to fetch.
  ///   - ask: fetches all bytes of a range.
  /// - Throws: `SystemError`.
  package init(
    size: Int, first: ArraySlice<UInt8>, limitBytes: Int, scratchFolder: String,
    ask: @escaping (Range<Int>) throws -> ArraySlice<UInt8>
  ) throws(SystemError) {
    self.size = Int64(size)
    self.limitBytes = limitBytes
    self.ask = ask
    scratch = try ScratchFile(folder: scratchFolder)
    try keep(first, at: 0)
  }

  package func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    let end = min(size, offset + Int64(count))
    guard offset < end else { return [] }
    let range = Int(offset)..<Int(end)
    try fetch(range)
    return try scratch.read([range]) ?? []
  }

  /// Fetches the missing parts of a range.
  func fetch(_ range: Range<Int>) throws {
    var start = range.lowerBound
    for piece in pieces where piece.overlaps(range) {
      if start < piece.lowerBound { try fetchMissing(start..<piece.lowerBound) }
      start = max(start, piece.upperBound)
    }
    if start < range.upperBound { try fetchMissing(start..<range.upperBound) }
  }

  private func fetchMissing(_ range: Range<Int>) throws {
    // The limit excludes the last byte, which may be fetched to verify the size.
    guard range.count <= limitBytes + 1 - fetchedBytes else {
      throw RemoteError.tooMuchToRead(limitBytes: limitBytes)
    }
    try keep(ask(range), at: range.lowerBound)
  }

  private func keep(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SystemError) {
    guard !bytes.isEmpty else { return }
    try scratch.write(Array(bytes), at: offset)
    fetchedBytes += bytes.count
    var merged = offset..<offset + bytes.count
    var others: [Range<Int>] = []
    for piece in pieces {
      if piece.upperBound < merged.lowerBound || piece.lowerBound > merged.upperBound {
        others.append(piece)
      } else {
        merged = min(piece.lowerBound, merged.lowerBound)..<max(piece.upperBound, merged.upperBound)
      }
    }
    pieces = (others + [merged]).sorted { $0.lowerBound < $1.lowerBound }
  }
}
