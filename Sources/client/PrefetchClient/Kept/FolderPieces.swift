import Foundation

/// Pieces of files in a folder: of each file `<number>.bytes`, with every byte at its own offset, and
/// `<number>.index`, a head and then records that are only ever appended.
///
/// A record is written behind the bytes that it is of, and has their checksum. So whatever is torn, by the
/// end of the process or of the machine, and in whatever order the system brought writes to the disk, a
/// record is either not whole or its bytes are not what it says: ranges are lost, and nothing wrong is read.
/// Nothing is ever synchronised; what is kept here can be fetched again.
struct FolderPieces: PieceStorage {
  private let folder: String
  /// Locked as long as this value lives.
  private let lock: SystemFile
  private var files: [Int: OpenFile] = [:]
  private var lastNumber = 0

  private struct OpenFile {
    let salt: UInt64
    var indexBytes: Int
    /// What was read at the start and has not been looked at since; by rising offset.
    var unverified: [PieceRecord]
    var isTouched = false
  }

  /// What a folder held.
  struct Found {
    let number: Int
    let file: KeptFile
    /// All that can be read, as far as records say.
    let held: ByteRangeSet
    /// All that was ever written: that takes room.
    let written: ByteRangeSet
  }

  /// An index may have this many bytes, 65 536 records and a head; a file of more is begun anew.
  static let indexLimitBytes = PieceRecord.encodedBytes * 65_536 + KeptFile.headLimitBytes

  /// Opens the folder, or makes it.
  ///
  /// - Returns: what it holds, by last use, that used longest ago first.
  static func open(_ folder: String) throws(RangeStoreError) -> (FolderPieces, [Found]) {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    } catch {
      let code = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
      throw .system(call: "mkdir", path: folder, code: Int32(clamping: code?.code ?? 0))
    }
    let lock = try SystemFile(path: folder + "/lock", create: true)
    guard try lock.lock() else { throw .folderInUse(folder) }
    var pieces = FolderPieces(folder: folder, lock: lock)
    let found = try pieces.find()
    return (pieces, found)
  }

  private init(folder: String, lock: SystemFile) {
    self.folder = folder
    self.lock = lock
  }

  private func path(_ number: Int, _ kind: String) -> String { "\(folder)/\(number).\(kind)" }

  // MARK: What a start finds

  private mutating func find() throws(RangeStoreError) -> [Found] {
    let manager = FileManager.default
    let names = (try? manager.contentsOfDirectory(atPath: folder)) ?? []
    var found: [(Found, Date)] = []
    for name in names {
      let parts = name.split(separator: ".")
      guard parts.count == 2, let number = Int(parts[0]), parts[1] == "index" || parts[1] == "bytes"
      else { continue }
      lastNumber = max(lastNumber, number)
      guard parts[1] == "index" else {
        if !names.contains("\(number).index") { remove(number) }
        continue
      }
      guard let file = try? load(number) else {
        remove(number)
        continue
      }
      let attributes = try? manager.attributesOfItem(atPath: path(number, "index"))
      found.append((file, attributes?[.modificationDate] as? Date ?? .distantPast))
    }
    return found.sorted { $0.1 < $1.1 }.map(\.0)
  }

  private mutating func load(_ number: Int) throws(RangeStoreError) -> Found? {
    let index = try SystemFile(path: path(number, "index"), create: false)
    let bytes = try index.read(0..<min(index.size(), Self.indexLimitBytes))
    guard let (file, salt, headBytes) = KeptFile.read(bytes) else { return nil }
    var (position, records): (Int, [PieceRecord]) = (headBytes, [])
    var (held, written) = (ByteRangeSet(), ByteRangeSet())
    while let record = PieceRecord(
      bytes[position..<min(position + PieceRecord.encodedBytes, bytes.count)], salt: salt)
    {
      position += PieceRecord.encodedBytes
      guard record.range.upperBound <= file.version.bytes else { return nil }
      written.insert(record.range)
      if record.checksum == nil {
        // What overlaps it cannot be checked any more: its bytes may have been written over.
        records.removeAll { $0.range.overlaps(record.range) }
      } else {
        records.append(record)
      }
    }
    for record in records { held.insert(record.range) }
    // Behind the first record that is not whole nothing is read: the next one is written there.
    try index.truncate(to: position)
    files[number] = OpenFile(
      salt: salt, indexBytes: position,
      unverified: records.sorted { $0.range.lowerBound < $1.range.lowerBound })
    return Found(number: number, file: file, held: held, written: written)
  }

  // MARK: Pieces

  mutating func create(_ file: KeptFile) throws(RangeStoreError) -> Int {
    lastNumber += 1
    let salt = UInt64.random(in: .min ... .max)
    let head = file.head(salt: salt)
    guard head.count <= KeptFile.headLimitBytes else { throw .notKept("its URL is too long") }
    _ = try SystemFile(path: path(lastNumber, "bytes"), create: true)
    try SystemFile(path: path(lastNumber, "index"), create: true).write(head[...], at: 0)
    files[lastNumber] = OpenFile(salt: salt, indexBytes: head.count, unverified: [])
    return lastNumber
  }

  mutating func write(
    _ bytes: ArraySlice<UInt8>, at offset: Int, of number: Int
  ) throws(RangeStoreError) {
    guard let file = files[number] else { return }
    try SystemFile(path: path(number, "bytes"), create: false).write(bytes, at: offset)
    try append(PieceRecord(bytes, at: offset, salt: file.salt), to: number)
  }

  mutating func read(
    _ range: Range<Int>, of number: Int
  ) throws(RangeStoreError) -> PieceReading {
    guard let file = files[number] else { return .broken(range) }
    let content = try SystemFile(path: path(number, "bytes"), create: false)
    var checked: Set<PieceRecord> = []
    for record in file.unverified where record.range.overlaps(range) {
      guard record.holds(try content.read(record.range), salt: file.salt) else {
        return try broken(record.range, of: number)
      }
      checked.insert(record)
    }
    if !checked.isEmpty { files[number]?.unverified.removeAll { checked.contains($0) } }
    let bytes = try content.read(range)
    return bytes.count == range.count ? .bytes(bytes) : try broken(range, of: number)
  }

  private mutating func broken(
    _ range: Range<Int>, of number: Int
  ) throws(RangeStoreError) -> PieceReading {
    files[number]?.unverified.removeAll { $0.range == range }
    _ = try discard(range, of: number)
    return .broken(range)
  }

  /// The bytes stay where they are until the file goes; what is left of a record that was not looked at yet
  /// is still checked by it.
  mutating func discard(_ range: Range<Int>, of number: Int) throws(RangeStoreError) -> Bool {
    try append(PieceRecord(removalOf: range), to: number)
    return false
  }

  mutating func remove(_ number: Int) {
    files[number] = nil
    // The index first: bytes without one are removed at the next start.
    unlink(path(number, "index"))
    unlink(path(number, "bytes"))
  }

  mutating func touch(_ number: Int) {
    guard files[number]?.isTouched == false else { return }
    files[number]?.isTouched = true
    try? SystemFile(path: path(number, "index"), create: false).touch()
  }

  private mutating func append(_ record: PieceRecord, to number: Int) throws(RangeStoreError) {
    guard let file = files[number] else { return }
    guard file.indexBytes + PieceRecord.encodedBytes <= Self.indexLimitBytes else {
      throw .notKept("it arrived in too many pieces")
    }
    let encoded = record.encoded(salt: file.salt)
    try SystemFile(path: path(number, "index"), create: false)
      .write(encoded[...], at: file.indexBytes)
    files[number]?.indexBytes += encoded.count
  }
}
