import CXXHash
import System

/// What stands behind a backup's last page: how long the database is, and a check sum of it. SQLite, which
/// goes by the number of pages in the file's header (https://sqlite.org/fileformat2.html, section 1.3.7),
/// does not look there.
///
/// A database read through is free of faults that SQLite can see; that a bit of a text has changed, it
/// cannot.
struct BackupSeal: Equatable {
  /// The database's length.
  let databaseBytes: Int
  /// XXH3, 128 bits, of its pieces, each with the sum of those before it.
  let checksum: [UInt8]

  /// How long the seal is: no database has a length that is this beyond a multiple of its page's.
  static let byteCount = 64
  private static let magic = Array("Lookahead backup".utf8)
  private static let pieceBytes = 1 << 18
  /// The least size of a page (https://sqlite.org/fileformat2.html, section 1.3.2).
  private static let leastPageBytes = 512

  /// The seal of the first `databaseBytes` bytes of a file.
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

  /// The bytes of the seal; the unused ones are zero, and must be.
  var bytes: [UInt8] {
    let content = Self.magic + Self.littleEndian(UInt64(databaseBytes)) + checksum
    return content + [UInt8](repeating: 0, count: Self.byteCount - content.count)
  }

  /// The file ends in a seal, whether or not it is right.
  static func isThere(in file: Descriptor) throws -> Bool {
    let size = try file.status.bytes
    guard size > byteCount else { return false }
    return try file.read(at: size - byteCount, count: magic.count) == magic
  }

  /// What a file's end says of it.
  enum Finding: Equatable {
    /// It is whole to the bit: a database of this many bytes.
    case whole(databaseBytes: Int)
    /// It has no seal: a backup of an earlier version, or a database that was used since.
    case none
    /// It is not what it was, or was cut short.
    case broken
  }

  /// Looks at a file and its seal.
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
