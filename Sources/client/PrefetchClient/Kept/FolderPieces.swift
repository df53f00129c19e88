import Foundation

/// Pieces of files in a folder. Each file has a `<number>.bytes`, with every byte at its own offset, and a
/// `<number>.index`: a head, and then records, which are only appended.
///
/// A record is written after its bytes and has their checksum. If the process or the machine ends during a
/// write, in whatever order the system wrote to the disk, a record is either incomplete or does not match its
/// bytes: ranges are lost, but no wrong bytes are read. Nothing is ever synchronised to the disk, because all
/// that is kept here can be fetched again.
struct FolderPieces: PieceStorage {
  private let folder: String
  /// The folder's lock, held as long as this value lives.
  private let lock: SystemFile
  private var files: [Int: OpenFile] = [:]
  private var lastNumber = 0

  private struct OpenFile {
    let salt: UInt64
    var indexBytes: Int
    /// The records found at the start and not verified since, by ascending offset.
    var unverified: [PieceRecord]
    var isTouched = false
  }

  /// A file found in the folder.
  struct Found {
    let number: Int
    let file: KeptFile
    /// The ranges that can be read, according to the records.
    let held: ByteRangeSet
    /// All ranges ever written: they take space.
    let written: ByteRangeSet
  }

  /// The maximum size of an index: 65 536 records and a head. Beyond it, `append` throws `.notKept`.
  static let indexLimitBytes = PieceRecord.encodedBytes * 65_536 + KeptFile.headLimitBytes

  /// Opens the folder, or creates it.
  ///
  /// - Returns: the files that it holds, least recently used first.
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

  // MARK: Loading

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
        // Records that overlap a removal can no longer be verified: their bytes may have been overwritten.
        records.removeAll { $0.range.overlaps(record.range) }
      } else {
        records.append(record)
      }
    }
    for record in records { held.insert(record.range) }
    // What follows the last complete record is not read: the next record is written there.
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

  /// Appends a removal. The bytes stay on the disk until the file is removed, so that the rest of an
  /// unverified record can still be verified.
  mutating func discard(_ range: Range<Int>, of number: Int) throws(RangeStoreError) -> Bool {
    try append(PieceRecord(removalOf: range), to: number)
    return false
  }

  mutating func remove(_ number: Int) {
    files[number] = nil
    // The index first: the next start removes bytes without an index.
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
