import CLinux
import GRDB
import GRDBSQLite

/// Compares a database's WAL with its index, which says how many frames of it are committed. SQLite itself
/// trusts the index, and reads whatever is at a frame's place. From a WAL that was truncated or
/// overwritten, it would checkpoint zeros and garbage into the database, and what is written to such a WAL
/// is lost at the next start (https://sqlite.org/walformat.html).
///
/// The files are read through the connection's own descriptors, and the index where SQLite has mapped it.
/// An I/O error or lack of memory is not a finding: SQLite's error is thrown.
struct LogCheck {
  private let database: UnsafeMutablePointer<sqlite3_file>
  private let log: UnsafeMutablePointer<sqlite3_file>

  private static let headerBytes = 32
  private static let frameHeaderBytes = 24
  /// The size of the regions in which the index is mapped.
  private static let regionBytes = 32_768
  /// The bytes of the head, and all bytes before the page numbers: the head twice, and the state of
  /// checkpoints.
  private static let (indexHeadBytes, indexStartBytes) = (48, 136)
  private static let magic: UInt32 = 0x377f_0682

  /// Creates a check for a connection that has opened the WAL; nil for others.
  init?(_ connection: Database) {
    func file(_ which: CInt) -> UnsafeMutablePointer<sqlite3_file>? {
      var file: UnsafeMutablePointer<sqlite3_file>?
      guard let connection = connection.sqliteConnection,
        sqlite3_file_control(connection, "main", which, &file) == SQLITE_OK,
        file?.pointee.pMethods != nil
      else { return nil }
      return file
    }
    guard let database = file(SQLITE_FCNTL_FILE_POINTER),
      let log = file(SQLITE_FCNTL_JOURNAL_POINTER)
    else { return nil }
    (self.database, self.log) = (database, log)
  }

  /// The part of the WAL that is known to be as it was written; the next check begins after it.
  struct Prefix {
    fileprivate var salts: UInt64
    fileprivate var frames: Int
    fileprivate var sum: Sum
  }

  /// Whether the beginning and the end of the WAL are as its index says. Takes two reads; valid while
  /// others write.
  ///
  /// - Throws: `DatabaseError`.
  func isPlausible() throws -> Bool {
    for _ in 0..<3 {
      // No head: it is being written, or SQLite will write it again.
      guard let head = try head(), head.frames > 0 else { return true }
      if try hasEnds(head) { return true }
      // Another connection may have restarted the WAL meanwhile.
      if try self.head() == head { return false }
    }
    return true
  }

  /// Whether each frame is as it was written, and the index names the right page for each. Requires the
  /// write lock, or that no other process writes.
  ///
  /// - Parameter known: the prefix that need not be read again; extended if all frames are right.
  /// - Throws: `DatabaseError`.
  func isWhole(beyond known: inout Prefix?) throws -> Bool {
    guard let head = try head() else { return false }
    guard head.frames > 0 else { return true }
    guard try hasEnds(head), let start = try read(Self.headerBytes, at: 0) else { return false }
    var prefix = Prefix(
      salts: head.salts, frames: 0,
      sum: Sum(first: start.bigEndian(24), second: start.bigEndian(28)))
    if let known, known.salts == head.salts, known.frames <= head.frames { prefix = known }
    let isBigEndian = start.bigEndian(0) & 1 == 1
    while prefix.frames < head.frames {
      let offset = Self.headerBytes + prefix.frames * head.frameBytes
      guard let frame = try read(head.frameBytes, at: offset), frame.word64(8) == head.salts,
        try page(ofFrame: prefix.frames) == frame.bigEndian(0)
      else { return false }
      prefix.sum.add(frame, 0..<8, isBigEndian: isBigEndian)
      prefix.sum.add(frame, Self.frameHeaderBytes..<frame.count, isBigEndian: isBigEndian)
      guard prefix.sum == Sum(first: frame.bigEndian(16), second: frame.bigEndian(20)) else {
        return false
      }
      prefix.frames += 1
    }
    known = prefix
    return prefix.sum == head.sum
  }

  /// Whether the index was truncated: SQLite continues with zeros in place of its bytes
  /// (`lookahead_map_file`).
  ///
  /// - Throws: `DatabaseError`.
  func isIndexCutOff() throws -> Bool {
    try region(0).map { lookahead_was_cut_off($0) != 0 } ?? false
  }

  /// Makes SQLite map the index so that the process survives its truncation. Must precede the first
  /// mapping.
  static let surviveCuts: Void = {
    let map:
      @convention(c) (
        UnsafeMutableRawPointer?, Int, CInt, CInt, CInt, off_t
      ) -> UnsafeMutableRawPointer? = lookahead_map_file
    let unmap: @convention(c) (UnsafeMutableRawPointer?, Int) -> CInt = lookahead_unmap_file
    guard let system = sqlite3_vfs_find(nil), let set = system.pointee.xSetSystemCall else {
      return
    }
    // SQLite calls them with their actual types (https://sqlite.org/c3ref/vfs.html).
    _ = set(system, "mmap", unsafeBitCast(map, to: sqlite3_syscall_ptr.self))
    _ = set(system, "munmap", unsafeBitCast(unmap, to: sqlite3_syscall_ptr.self))
  }()

  private func hasEnds(_ head: Head) throws -> Bool {
    let last = Self.headerBytes + (head.frames - 1) * head.frameBytes
    guard let start = try read(Self.headerBytes, at: 0), start.bigEndian(0) & ~1 == Self.magic,
      start.word64(16) == head.salts,
      let frame = try read(Self.frameHeaderBytes, at: last), frame.word64(8) == head.salts,
      Sum(first: frame.bigEndian(16), second: frame.bigEndian(20)) == head.sum,
      try page(ofFrame: head.frames - 1) == frame.bigEndian(0)
    else { return false }
    return try fileBytes() >= last + head.frameBytes
  }
}

// MARK: The index

extension LogCheck {
  /// What the index says about the WAL.
  private struct Head: Equatable {
    let frames: Int
    let pageBytes: Int
    let sum: Sum
    let salts: UInt64

    var frameBytes: Int { LogCheck.frameHeaderBytes + pageBytes }
  }

  /// Returns the head, which is stored twice; nil while a process writes it, or if it is damaged.
  private func head() throws -> Head? {
    guard let region = try region(0) else { return nil }
    let bytes = Array(UnsafeRawBufferPointer(start: region, count: Self.indexHeadBytes * 2))
    guard bytes[..<Self.indexHeadBytes] == bytes[Self.indexHeadBytes...], bytes[12] == 1 else {
      return nil
    }
    var sum = Sum(first: 0, second: 0)
    sum.add(bytes, 0..<40, isBigEndian: false)
    guard sum == Sum(first: bytes.word(40), second: bytes.word(44)) else { return nil }
    let size = Int(bytes.word(12) >> 16)
    return Head(
      frames: Int(bytes.word(16)), pageBytes: size & 0xfe00 + (size & 1) << 16,
      sum: Sum(first: bytes.word(24), second: bytes.word(28)), salts: bytes.word64(32))
  }

  /// Returns the page that a frame holds; the first frame has number 0.
  private func page(ofFrame frame: Int) throws -> UInt32? {
    let word = frame + Self.indexStartBytes / 4
    // Half of a region holds numbers, the other half a hash table.
    let words = Self.regionBytes / 8
    return try region(word / words)?.load(fromByteOffset: word % words * 4, as: UInt32.self)
  }

  /// Returns a region of the index; nil if the index is smaller.
  private func region(_ number: Int) throws -> UnsafeMutableRawPointer? {
    guard let map = database.pointee.pMethods.pointee.xShmMap else { return nil }
    var region: UnsafeMutableRawPointer?
    try Self.check(map(database, CInt(number), CInt(Self.regionBytes), 0, &region))
    return region
  }

  private static func check(_ code: CInt) throws {
    guard code != SQLITE_OK else { return }
    throw DatabaseError(
      resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errstr(code)))
  }
}

// MARK: The WAL

extension LogCheck {
  /// Reads from the WAL; returns nil if the file ends before.
  private func read(_ count: Int, at offset: Int) throws -> [UInt8]? {
    try Self.read(log, count, at: offset)
  }

  /// Reads from any file of SQLite's.
  ///
  /// - Returns: nil if the file ends before.
  /// - Throws: `DatabaseError`.
  static func read(
    _ file: UnsafeMutablePointer<sqlite3_file>, _ count: Int, at offset: Int
  ) throws -> [UInt8]? {
    guard let read = file.pointee.pMethods.pointee.xRead else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let code = read(file, &bytes, CInt(count), Int64(offset))
    if code == ResultCode.SQLITE_IOERR_SHORT_READ.rawValue { return nil }
    try check(code)
    return bytes
  }

  private func fileBytes() throws -> Int {
    var bytes: Int64 = 0
    try Self.check(log.pointee.pMethods.pointee.xFileSize(log, &bytes))
    return Int(bytes)
  }

  /// SQLite's checksum of the WAL (https://sqlite.org/fileformat2.html#walcksm).
  fileprivate struct Sum: Equatable {
    var first: UInt32
    var second: UInt32

    mutating func add(_ bytes: [UInt8], _ range: Range<Int>, isBigEndian: Bool) {
      bytes.withUnsafeBytes { bytes in
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
          let words = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD2<UInt32>.self)
          first &+= (isBigEndian ? words[0].bigEndian : words[0].littleEndian) &+ second
          second &+= (isBigEndian ? words[1].bigEndian : words[1].littleEndian) &+ first
        }
      }
    }
  }
}

extension [UInt8] {
  /// Returns a word in the machine's byte order, which is that of the index.
  fileprivate func word(_ start: Int) -> UInt32 {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt32.self) }
  }

  fileprivate func word64(_ start: Int) -> UInt64 {
    withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: UInt64.self) }
  }

  fileprivate func bigEndian(_ start: Int) -> UInt32 { UInt32(bigEndian: word(start)) }
}
