/// The positions and times of a track's samples (ISO/IEC 14496-12 sections 8.6.1 and 8.7), stored as in its
/// `stbl` box: they are not unpacked, so they take no more memory than the box.
struct SampleTables {
  /// Rows of numbers of a fixed width.
  private struct Rows {
    let bytes: ArraySlice<UInt8>
    let count: Int

    static let none = Rows(bytes: [], count: 0)

    /// Returns the 32-bit number at `offset` in a row of `rowBytes`.
    func number(_ row: Int, _ rowBytes: Int, at offset: Int = 0) -> UInt32 {
      let start = bytes.startIndex + row * rowBytes + offset
      return bytes[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
  }

  /// The sizes of the samples: either the bytes of a number of equal samples, or a table with
  /// entries of this many bits.
  private enum Sizes {
    case equal(samples: Int64, bytes: Int64)
    case bits(Int, ArraySlice<UInt8>)
  }

  /// The number of ticks of sound in a piece; FFmpeg uses the same.
  private static let pieceTicks = 1024

  /// The number of samples.
  let count: Int
  /// The maximum number of contiguous samples in a piece. A sample of uncompressed sound is a few
  /// bytes, and there are millions.
  private let group: Int
  private let sizes: Sizes
  private let timesToSamples: Rows
  private let compositionOffsets: Rows
  private let chunkRuns: Rows
  private let chunkOffsets: Rows
  private let chunkOffsetBytes: Int
  /// The key samples; nil if decoding can begin at every sample.
  private let syncSamples: Rows?
  private let place: FieldReader

  /// Reads an `stbl` box of a track whose samples have the encoding of `entry`.
  init(
    _ fields: FieldReader, entry: SampleEntry, limits: MediaLimits
  ) throws {
    place = fields
    let boxes = BoxContent(fields)
    let count: Int
    var sizes: Sizes
    (count, sizes) = try Self.sizes(boxes)
    timesToSamples = try Self.rows(try boxes.first("stts"), 8)
    compositionOffsets = try Self.rows(try boxes.first("ctts"), 8)
    chunkRuns = try Self.rows(try boxes.first("stsc"), 12)
    syncSamples = try boxes.first("stss").map { try Self.rows($0, 4) }
    if let offsets = try boxes.first("stco") {
      chunkOffsets = try Self.rows(offsets, 4)
      chunkOffsetBytes = 4
    } else {
      chunkOffsets = try Self.rows(try boxes.first("co64"), 8)
      chunkOffsetBytes = 8
    }
    var group = 1
    if entry.isSound, case .equal(_, let bytes) = sizes {
      let ticks = timesToSamples.count > 0 ? Int(timesToSamples.number(0, 8, at: 4)) : 1
      group = max(1, Self.pieceTicks / max(1, ticks))
      // QuickTime states a size of one byte for each sample of sound; the sample entry has the actual size.
      if bytes == 1, let packet = entry.soundPacket {
        group = (group + packet.samples - 1) / packet.samples * packet.samples
        sizes = .equal(samples: Int64(packet.samples), bytes: Int64(packet.bytes))
      }
    }
    self.group = group
    self.count = count
    self.sizes = sizes
    try limits.check(Int64(pieceCount), .samples, at: fields.offset, in: fields.place)
  }

  /// The maximum number of pieces in `forEach`.
  var pieceCount: Int { group == 1 ? count : count / group + chunkOffsets.count }

  /// Reads `stsz` or `stz2` (sections 8.7.3.2 and 8.7.3.3).
  private static func sizes(_ boxes: BoxContent) throws -> (Int, Sizes) {
    let isCompact: Bool
    var fields: FieldReader
    if let found = try boxes.first("stsz") {
      (isCompact, fields) = (false, found)
    } else if let found = try boxes.first("stz2") {
      (isCompact, fields) = (true, found)
    } else {
      return (0, .equal(samples: 1, bytes: 0))
    }
    _ = try fields.fullBox()
    let word = try fields.unsigned32()
    let count = Int(try fields.unsigned32())
    if !isCompact, word > 0 { return (count, .equal(samples: 1, bytes: Int64(word))) }
    let bits = isCompact ? Int(word & 0xff) : 32
    guard [4, 8, 16, 32].contains(bits) else {
      throw fields.malformed("its sizes have \(bits) bits")
    }
    return (count, .bits(bits, try fields.bytes((count * bits + 7) / 8)))
  }

  private static func rows(_ found: FieldReader?, _ rowBytes: Int) throws -> Rows {
    guard var fields = found else { return .none }
    _ = try fields.fullBox()
    let count = Int(try fields.unsigned32())
    let (bytes, isTooLarge) = count.multipliedReportingOverflow(by: rowBytes)
    guard !isTooLarge, bytes <= fields.remaining else {
      throw fields.malformed(
        "it states \(count) rows, more than its bytes can hold")
    }
    return Rows(bytes: try fields.bytes(bytes), count: count)
  }

  /// Calls `take` with all samples in decoding order; short samples of sound come in pieces.
  func forEach(_ take: (Sample) throws -> Void) throws {
    var walk = Walk(self)
    while walk.index < count { try take(try walk.next()) }
  }

  /// The positions of an iteration in each table.
  private struct Walk {
    private let tables: SampleTables
    private(set) var index = 0
    private var decodeTime: Int64 = 0
    private var timeRun = 0
    private var timeLeft: UInt32 = 0
    private var sampleTicks: Int64 = 0
    private var compositionRun = 0
    private var compositionLeft: UInt32 = 0
    private var compositionTicks: Int64 = 0
    private var syncRow = 0
    private var chunk = -1
    private var chunkRun = 0
    private var chunkLeft: UInt32 = 0
    private var offset: Int64 = 0

    init(_ tables: SampleTables) { self.tables = tables }

    mutating func next() throws -> Sample {
      advanceTimes()
      try advanceChunk()
      let more = min(
        UInt32(tables.group - 1), chunkLeft, timeLeft, UInt32(tables.count - index - 1))
      chunkLeft -= more
      timeLeft -= more
      let samples = Int64(more) + 1
      let size = tables.size(index, samples)
      let sample = Sample(
        decodeTime: decodeTime, compositionTime: decodeTime + compositionTicks,
        ticks: sampleTicks * samples, offset: offset, bytes: size, isSync: advanceSync())
      // Saturating, as 2^32 samples of 2^32 ticks would overflow; a piece has fewer than 2^31 samples.
      decodeTime = ByteReader.end(decodeTime, sample.ticks)
      offset = ByteReader.end(offset, size)
      index += Int(samples)
      return sample
    }

    /// Advances the times. If there are fewer rows than samples, the last duration applies to the rest.
    private mutating func advanceTimes() {
      let times = tables.timesToSamples
      while timeLeft == 0, timeRun < times.count {
        timeLeft = times.number(timeRun, 8)
        sampleTicks = Int64(times.number(timeRun, 8, at: 4))
        timeRun += 1
      }
      if timeLeft > 0 { timeLeft -= 1 }
      let offsets = tables.compositionOffsets
      while compositionLeft == 0, compositionRun < offsets.count {
        compositionLeft = offsets.number(compositionRun, 8)
        // Version 0 defines unsigned offsets, but programs write none that exceed an `Int32`.
        compositionTicks = Int64(
          Int32(bitPattern: offsets.number(compositionRun, 8, at: 4)))
        compositionRun += 1
      }
      if compositionLeft > 0 { compositionLeft -= 1 } else { compositionTicks = 0 }
    }

    private mutating func advanceSync() -> Bool {
      guard let rows = tables.syncSamples else { return true }
      while syncRow < rows.count, rows.number(syncRow, 4) < index + 1 { syncRow += 1 }
      return syncRow < rows.count && rows.number(syncRow, 4) == index + 1
    }

    private mutating func advanceChunk() throws {
      while chunkLeft == 0 {
        chunk += 1
        guard chunk < tables.chunkOffsets.count, tables.chunkRuns.count > 0 else {
          throw tables.place.malformed("its chunks end before sample \(index + 1)")
        }
        // A run's first chunk is numbered from 1.
        while chunkRun + 1 < tables.chunkRuns.count,
          tables.chunkRuns.number(chunkRun + 1, 12) <= chunk + 1
        {
          chunkRun += 1
        }
        chunkLeft = tables.chunkRuns.number(chunkRun, 12, at: 4)
        offset = try tables.chunkOffset(chunk)
      }
      chunkLeft -= 1
    }
  }

  private func chunkOffset(_ chunk: Int) throws -> Int64 {
    guard chunkOffsetBytes == 8 else { return Int64(chunkOffsets.number(chunk, 4)) }
    let high = chunkOffsets.number(chunk, 8)
    guard high <= Int32.max else { throw place.malformed("a chunk's offset is too large") }
    return Int64(high) << 32 | Int64(chunkOffsets.number(chunk, 8, at: 4))
  }

  /// Returns the size of `count` samples from `index` on; `count` exceeds 1 only if all have the same size.
  private func size(_ index: Int, _ count: Int64) -> Int64 {
    switch sizes {
    case .equal(let samples, let bytes): return (count * bytes + samples - 1) / samples
    case .bits(let bits, let table):
      let bit = index * bits
      let first = table.startIndex + bit / 8
      // The first of two sizes in one byte is the upper half.
      if bits == 4 { return Int64(table[first] >> (bit % 8 == 0 ? 4 : 0) & 15) }
      return table[first..<first + bits / 8].reduce(0) { $0 << 8 | Int64($1) }
    }
  }
}

/// A frame or a piece of sound in the tables. Times are in ticks of the media.
struct Sample {
  let decodeTime: Int64
  let compositionTime: Int64
  let ticks: Int64
  /// The offset in the file.
  let offset: Int64
  let bytes: Int64
  /// Whether decoding can begin with it.
  let isSync: Bool
}
