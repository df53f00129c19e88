/// Follows a zlib stream (RFC 1950, RFC 1951) only to measure how much input yields how much output. It keeps
/// no output, so a stream that expands a thousandfold costs only time in proportion to its own size.
struct DeflateMeter {
  private let reader: ByteReader
  /// The ranges of the file that contain the stream.
  private let ranges: [Range<Int64>]
  private var range = 0
  private var chunk: ArraySlice<UInt8> = []
  /// The file offset of the next byte of the chunk.
  private var offset: Int64 = 0
  private var bits: UInt32 = 0
  private var bitCount: UInt32 = 0
  private var outputBytes: Int64 = 0
  private var state = State.header

  private enum State {
    case header, block, end
    case stored(Int, isLast: Bool)
    case coded(literals: PrefixCode, distances: PrefixCode, isLast: Bool)
  }

  /// Thrown when the stream ends early or violates the rules of deflate.
  private struct Ended: Error {}

  init(reader: ByteReader, ranges: [Range<Int64>]) {
    self.reader = reader
    self.ranges = ranges
    offset = ranges.first?.lowerBound ?? 0
  }

  /// Returns the file offset after the byte that completes `count` bytes of output; nil if the stream ends
  /// before. Calls must have ascending counts.
  mutating func inputEnd(ofOutput count: Int64) throws -> Int64? {
    do {
      while outputBytes < count {
        if case .end = state { return nil }
        try step()
      }
      return offset
    } catch is Ended { return nil }
  }

  /// Reads one symbol, or the header of the stream or of a block.
  private mutating func step() throws {
    switch state {
    case .header:
      _ = try take(16)
      state = .block
    case .block: try beginBlock()
    case .stored(let count, let isLast):
      if count == 0 {
        state = isLast ? .end : .block
        return
      }
      _ = try take(8)
      outputBytes += 1
      state = .stored(count - 1, isLast: isLast)
    case .coded(let literals, let distances, let isLast):
      let symbol = try next(literals)
      if symbol < 256 {
        outputBytes += 1
      } else if symbol == 256 {
        state = isLast ? .end : .block
      } else {
        outputBytes += Int64(try length(symbol))
        let distance = try next(distances)
        guard distance < 30 else { throw Ended() }
        _ = try take(UInt32(max(0, distance / 2 - 1)))
      }
    case .end: break
    }
  }

  private mutating func beginBlock() throws {
    let isLast = try take(1) == 1
    switch try take(2) {
    case 0:
      bits = 0
      bitCount = 0
      let count = try take(16)
      _ = try take(16)
      state = .stored(Int(count), isLast: isLast)
    case 1:
      // Fixed Huffman codes (section 3.2.6).
      let lengths = (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
      state = .coded(
        literals: PrefixCode(lengths), distances: PrefixCode([Int](repeating: 5, count: 30)),
        isLast: isLast)
    case 2: try readCodes(isLast: isLast)
    default: throw Ended()
    }
  }

  /// Reads dynamic Huffman codes (section 3.2.7).
  private mutating func readCodes(isLast: Bool) throws {
    let literalCount = Int(try take(5)) + 257
    let distanceCount = Int(try take(5)) + 1
    let codeCount = Int(try take(4)) + 4
    let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    var codeLengths = [Int](repeating: 0, count: 19)
    for index in 0..<codeCount { codeLengths[order[index]] = Int(try take(3)) }
    let codes = PrefixCode(codeLengths)
    var lengths: [Int] = []
    while lengths.count < literalCount + distanceCount {
      let symbol = try next(codes)
      switch symbol {
      case 16:
        guard let last = lengths.last else { throw Ended() }
        lengths += [Int](repeating: last, count: Int(try take(2)) + 3)
      case 17: lengths += [Int](repeating: 0, count: Int(try take(3)) + 3)
      case 18: lengths += [Int](repeating: 0, count: Int(try take(7)) + 11)
      default: lengths.append(symbol)
      }
    }
    state = .coded(
      literals: PrefixCode(Array(lengths[..<literalCount])),
      distances: PrefixCode(Array(lengths[literalCount..<literalCount + distanceCount])),
      isLast: isLast)
  }

  /// Returns the number of bytes that a symbol above 256 represents (section 3.2.5).
  private mutating func length(_ symbol: Int) throws -> Int {
    guard symbol < 286 else { throw Ended() }
    if symbol < 265 { return symbol - 254 }
    if symbol == 285 { return 258 }
    let extraBits = (symbol - 261) / 4
    return 3 + ((4 + (symbol - 265) % 4) << extraBits) + Int(try take(UInt32(extraBits)))
  }

  private mutating func next(_ code: PrefixCode) throws -> Int {
    var walk = PrefixCode.Walk()
    while true {
      if let symbol = code.symbol(&walk, Int(try take(1))) { return symbol }
      if walk.length > 15 { throw Ended() }
    }
  }

  /// Returns the next `count` bits (at most 16), the first one lowest.
  private mutating func take(_ count: UInt32) throws -> UInt32 {
    while bitCount < count {
      bits |= UInt32(try nextByte()) << bitCount
      bitCount += 8
    }
    defer {
      bits >>= count
      bitCount -= count
    }
    return bits & (1 << count - 1)
  }

  private mutating func nextByte() throws -> UInt8 {
    while chunk.isEmpty {
      guard range < ranges.count else { throw Ended() }
      let left = ranges[range].upperBound - offset
      guard left > 0 else {
        range += 1
        if range < ranges.count { offset = ranges[range].lowerBound }
        continue
      }
      chunk = try reader.bytes(
        at: offset, count: Int(min(left, Int64(reader.windowBytes))), in: "IDAT")
    }
    offset += 1
    return chunk.removeFirst()
  }
}

/// A canonical prefix code, given by the lengths of its symbols' codes (RFC 1951 section 3.2.2).
private struct PrefixCode {
  /// The position within a code.
  struct Walk {
    var length = 0
    fileprivate var code = 0
    fileprivate var first = 0
    fileprivate var index = 0
  }

  private var counts = [Int](repeating: 0, count: 16)
  private var symbols: [Int] = []

  init(_ lengths: [Int]) {
    for length in 1...15 {
      for (symbol, own) in lengths.enumerated() where own == length {
        counts[length] += 1
        symbols.append(symbol)
      }
    }
  }

  /// Returns the symbol whose code ends with the next bit; nil if the code continues.
  func symbol(_ walk: inout Walk, _ bit: Int) -> Int? {
    walk.length += 1
    guard walk.length <= 15 else { return nil }
    walk.code |= bit
    let count = counts[walk.length]
    if walk.code - walk.first < count { return symbols[walk.index + walk.code - walk.first] }
    walk.index += count
    walk.first = (walk.first + count) << 1
    walk.code <<= 1
    return nil
  }
}
