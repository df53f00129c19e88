import CXXHash
import System

/// The data after a backup's last page: the length of the database and a checksum of it. SQLite uses the
/// number of pages in the file's header (https://sqlite.org/fileformat2.html, section 1.3.7) and does not
/// look there.
///
/// Reading a whole database finds the faults that SQLite can see, but not a changed bit of a text.
struct BackupSeal: Equatable {
  /// The database's length.
  let databaseBytes: Int
  /// XXH3, 128 bits, of the pieces of the database, each with the checksum of those before it.
  let checksum: [UInt8]

  /// The length of the seal: no database has a length that is this far beyond a multiple of its page size.
  static let byteCount = 64
  private static let magic = Array("Lookahead backup".utf8)
  private static let pieceBytes = 1 << 18
  /// The smallest size of a page (https://sqlite.org/fileformat2.html, section 1.3.2).
  private static let leastPageBytes = 512

  /// Computes the seal of the first `databaseBytes` bytes of a file.
  init(of file: Descriptor, databaseBytes: Int) throws {
    self.databaseBytes = databaseBytes
    var sum: [UInt8] = []
    var offset = 0
    while offset < databaseBytes {
      let piece = try file.read(at: offset, count: min(Self.pieceBytes, databaseBytes - offset))
      if piece.isEmpty { break }
      sum = Self.hash(sum + Self.hash(piece))
      offset += piece.count
    }
    checksum = sum.isEmpty ? Self.hash([]) : sum
  }

  private static func hash(_ bytes: [UInt8]) -> [UInt8] {
    let hash = bytes.withUnsafeBytes { lookahead_xxh3_128($0.baseAddress, $0.count) }
    return littleEndian(hash.low) + littleEndian(hash.high)
  }

  private static func littleEndian(_ number: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
  }

  /// The bytes of the seal. The unused bytes are zero, and must be.
  var bytes: [UInt8] {
    let content = Self.magic + Self.littleEndian(UInt64(databaseBytes)) + checksum
    return content + [UInt8](repeating: 0, count: Self.byteCount - content.count)
  }

  /// Whether the file ends in a seal, right or wrong.
  static func isThere(in file: Descriptor) throws -> Bool {
    let size = try file.status.bytes
    guard size > byteCount else { return false }
    return try file.read(at: size - byteCount, count: magic.count) == magic
  }

  /// The result of a check of a seal.
  enum Finding: Equatable {
    /// The file is intact to the bit: a database of this many bytes.
    case whole(databaseBytes: Int)
    /// The file has no seal: it is a backup of an earlier version, or a database that was used since.
    case none
    /// The file has changed, or was truncated.
    case broken
  }

  /// Checks a file against its seal.
  static func look(at file: Descriptor) throws -> Finding {
    let size = try file.status.bytes
    guard size % leastPageBytes != 0 else { return .none }
    guard size > byteCount else { return .broken }
    let databaseBytes = size - byteCount
    let seal = try BackupSeal(of: file, databaseBytes: databaseBytes)
    return try file.read(at: databaseBytes, count: byteCount) == seal.bytes
      ? .whole(databaseBytes: databaseBytes) : .broken
  }
}
