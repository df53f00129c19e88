/// The files of which bytes are kept: within limits, those used longest ago go first.
package struct KeptFiles {
  /// A file, and what is there of it.
  package struct Entry {
    let number: Int
    package let file: KeptFile
    /// What can be read.
    package fileprivate(set) var held: ByteRangeSet
    /// What takes room.
    fileprivate var written: ByteRangeSet
    fileprivate var lastUse: Int
  }

  private var storage: any PieceStorage
  private var entries: [String: Entry] = [:]
  /// How many use each file just now: those do not go.
  private var pins: [String: Int] = [:]
  private var uses = 0
  private let limits: RangeStoreLimits
  /// How many bytes take room.
  package private(set) var bytes = 0

  /// Files in memory, none yet.
  package init(limits: RangeStoreLimits) {
    storage = MemoryPieces()
    self.limits = limits
  }

  /// The files of the folder.
  package init(folder: String, limits: RangeStoreLimits) throws(RangeStoreError) {
    let (pieces, found) = try FolderPieces.open(folder)
    storage = pieces
    self.limits = limits
    for file in found {
      // Two of one URL: the later one is in use since.
      if let old = entries[file.file.url] { remove(old) }
      uses += 1
      bytes += file.written.count
      entries[file.file.url] = Entry(
        number: file.number, file: file.file, held: file.held, written: file.written, lastUse: uses)
    }
    // Limits may be lower than they were.
    while bytes > limits.bytes || entries.count > limits.files {
      guard removeOldest() else { break }
    }
  }

  /// How many files there are.
  package var count: Int { entries.count }

  /// The file of this URL, and what is there of it.
  package subscript(url: String) -> Entry? { entries[url] }

  // MARK: Use

  /// The file is in use: it stays as long as it is.
  package mutating func pin(_ url: String) {
    pins[url, default: 0] += 1
    guard let number = entries[url]?.number else { return }
    uses += 1
    entries[url]?.lastUse = uses
    storage.touch(number)
  }

  /// One use has ended.
  package mutating func unpin(_ url: String) {
    guard let count = pins[url] else { return }
    pins[url] = count > 1 ? count - 1 : nil
  }

  // MARK: Bytes

  /// From now on it is this version of the file that is kept; bytes of another one go.
  ///
  /// - Throws: `RangeStoreError.notKept` where there is no room.
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

  /// Keeps those of the bytes that are not there yet.
  ///
  /// - Returns: how many that were.
  /// - Throws: `RangeStoreError.notKept` where there is no room: less or nothing of them is kept.
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
        // Full, or no longer there. What is kept so far stays good.
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

  /// The bytes of the range; `nil` where not all are there, or it turns out that they are not.
  package mutating func read(_ range: Range<Int>, of url: String) -> [UInt8]? {
    guard let entry = entries[url], entry.held.contains(range) else { return nil }
    do throws(RangeStoreError) {
      switch try storage.read(range, of: entry.number) {
      case .bytes(let bytes): return bytes
      case .broken(let broken): entries[url]?.held.remove(broken)
      }
    } catch {
      // Whoever removed the file's bytes, or unplugged the disk: as if they had never been there.
      remove(entry)
    }
    return nil
  }

  /// Lets go of bytes of a file; of the file where none are left.
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

  /// Lets go of the file that was used longest ago and is not in use.
  private mutating func removeOldest() -> Bool {
    let oldest = entries.values.filter { pins[$0.file.url] == nil }
      .min { $0.lastUse < $1.lastUse }
    guard let oldest else { return false }
    remove(oldest)
    return true
  }
}
