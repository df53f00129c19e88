/// The files with kept bytes, within limits. Least recently used files are evicted first.
package struct KeptFiles {
  /// A file and its kept bytes.
  package struct Entry {
    let number: Int
    package let file: KeptFile
    /// The ranges that can be read.
    package fileprivate(set) var held: ByteRangeSet
    /// The ranges that take space.
    fileprivate var written: ByteRangeSet
    fileprivate var lastUse: Int
  }

  private var storage: any PieceStorage
  private var entries: [String: Entry] = [:]
  /// The number of uses of each file at present. Files in use are not evicted.
  private var pins: [String: Int] = [:]
  private var uses = 0
  private let limits: RangeStoreLimits
  /// The number of bytes that take space.
  package private(set) var bytes = 0

  /// Creates an empty set of files in memory.
  package init(limits: RangeStoreLimits) {
    storage = MemoryPieces()
    self.limits = limits
  }

  /// Opens the files in the folder.
  package init(folder: String, limits: RangeStoreLimits) throws(RangeStoreError) {
    let (pieces, found) = try FolderPieces.open(folder)
    storage = pieces
    self.limits = limits
    for file in found {
      // Of two files with one URL, the later was used more recently.
      if let old = entries[file.file.url] { remove(old) }
      uses += 1
      bytes += file.written.count
      entries[file.file.url] = Entry(
        number: file.number, file: file.file, held: file.held, written: file.written, lastUse: uses)
    }
    // The limits may be lower than before.
    while bytes > limits.bytes || entries.count > limits.files {
      guard removeOldest() else { break }
    }
  }

  /// The number of files.
  package var count: Int { entries.count }

  /// The file with this URL, and its kept bytes.
  package subscript(url: String) -> Entry? { entries[url] }

  // MARK: Use

  /// Begins a use of the file: it is not evicted before `unpin`.
  package mutating func pin(_ url: String) {
    pins[url, default: 0] += 1
    guard let number = entries[url]?.number else { return }
    uses += 1
    entries[url]?.lastUse = uses
    storage.touch(number)
  }

  /// Ends one use of the file.
  package mutating func unpin(_ url: String) {
    guard let count = pins[url] else { return }
    pins[url] = count > 1 ? count - 1 : nil
  }

  // MARK: Bytes

  /// Keeps this version of the file from now on, and removes bytes of other versions.
  ///
  /// - Throws: `RangeStoreError.notKept` if there is no room.
  package mutating func begin(_ file: KeptFile) throws(RangeStoreError) {
    if let entry = entries[file.url] {
      if entry.file.version == file.version { return }
      remove(entry)
    }
    while entries.count >= limits.files {
      guard removeOldest() else { throw .notKept("\(limits.files) files are in use") }
    }
    let number: Int
    do throws(RangeStoreError) {
      number = try storage.create(file)
    } catch {
      throw .notKept("\(error)")
    }
    uses += 1
    entries[file.url] = Entry(
      number: number, file: file, held: ByteRangeSet(), written: ByteRangeSet(), lastUse: uses)
  }

  /// Keeps those of the bytes that are not kept yet.
  ///
  /// - Returns: the number of these.
  /// - Throws: `RangeStoreError.notKept` if there is no room; a part of the bytes may then be kept.
  package mutating func keep(
    _ bytes: [UInt8], at offset: Int, of url: String
  ) throws(RangeStoreError) -> Int {
    guard let entry = entries[url] else { return 0 }
    var count = 0
    for range in entry.held.gaps(in: offset..<offset + bytes.count) {
      var written = entry.written
      written.insert(range)
      let more = written.count - entry.written.count
      while self.bytes + more > limits.bytes {
        guard removeOldest() else { throw .notKept("\(limits.bytes) bytes are in use") }
      }
      do throws(RangeStoreError) {
        try storage.write(
          bytes[(range.lowerBound - offset)..<(range.upperBound - offset)], at: range.lowerBound,
          of: entry.number)
      } catch {
        // The disk is full or gone. What was kept so far stays valid.
        throw .notKept("\(error)")
      }
      entries[url]?.held.insert(range)
      let taken = entries[url]?.written.count ?? 0
      entries[url]?.written.insert(range)
      self.bytes += (entries[url]?.written.count ?? 0) - taken
      count += range.count
    }
    return count
  }

  /// Reads the range; `nil` if bytes of it are absent, or turn out to be damaged.
  package mutating func read(_ range: Range<Int>, of url: String) -> [UInt8]? {
    guard let entry = entries[url], entry.held.contains(range) else { return nil }
    do throws(RangeStoreError) {
      switch try storage.read(range, of: entry.number) {
      case .bytes(let bytes): return bytes
      case .broken(let broken): entries[url]?.held.remove(broken)
      }
    } catch {
      // The file's bytes were removed, or the disk unplugged: treat them as absent.
      remove(entry)
    }
    return nil
  }

  /// Removes bytes of a file, and the file if none are left.
  package mutating func discard(_ range: Range<Int>, of url: String) {
    guard let entry = entries[url] else { return }
    var held = entry.held
    held.remove(range)
    guard !held.isEmpty, let isFree = try? storage.discard(range, of: entry.number) else {
      return remove(entry)
    }
    entries[url]?.held = held
    if isFree {
      entries[url]?.written = held
      bytes -= entry.written.count - held.count
    }
  }

  private mutating func remove(_ entry: Entry) {
    storage.remove(entry.number)
    bytes -= entry.written.count
    entries[entry.file.url] = nil
  }

  /// Evicts the least recently used file that is not in use; false if there is none.
  private mutating func removeOldest() -> Bool {
    let oldest = entries.values.filter { pins[$0.file.url] == nil }
      .min { $0.lastUse < $1.lastUse }
    guard let oldest else { return false }
    remove(oldest)
    return true
  }
}
