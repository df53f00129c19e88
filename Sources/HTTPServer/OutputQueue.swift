import Glibc
import Sockets
import System

/// What is to be written to a connection.
///
/// Large parts of a body stay the arrays of whoever made them, and files stay files. Small parts
/// are copied together, since a segment of its own costs more than its bytes do: measured with a
/// page of 18 KB in 33 parts, the whole request took 12.9 µs of CPU time with each part a segment,
/// and 8.7 µs with all copied.
struct OutputQueue {
  /// How many segments one `writev` takes.
  private static let segmentsAtOnce = 128
  private static let queuedBytes = 65_536
  /// How much of a file one `sendfile` takes.
  private static let fileBytesAtOnce = 262_144

  /// Parts up to this size are copied.
  private static let copiedPartBytes = 2048

  private var parts: [Response.Part] = []
  private var first = 0
  private var offset = 0
  /// How many bytes wait.
  private(set) var byteCount = 0
  /// How many bytes were ever written.
  private(set) var writtenCount = 0

  var isEmpty: Bool { first == parts.count }

  /// How much memory waits to be written.
  private(set) var heldBytes = 0

  /// How many parts wait.
  private var count: Int { parts.count - first }

  /// Whether enough waits for one call; more is not queued, so that a client that takes nothing
  /// holds no more copies than this.
  var isFull: Bool { count >= Self.segmentsAtOnce || byteCount >= Self.queuedBytes }

  mutating func append(_ bytes: [UInt8]) { append(.bytes(bytes)) }

  private mutating func append(_ part: Response.Part) {
    guard part.count > 0 else { return }
    parts.append(part)
    byteCount += part.count
    heldBytes += part.heldBytes
  }

  /// Appends a head and the parts of a body.
  mutating func append(_ head: consuming [UInt8], then body: [Response.Part]) {
    var collected = head
    for part in body {
      if case .bytes(let bytes) = part, bytes.count <= Self.copiedPartBytes {
        collected.append(contentsOf: bytes)
      } else {
        append(collected)
        collected = []
        append(part)
      }
    }
    append(collected)
  }

  /// How many bytes of the first parts will be copied behind a head.
  static func copiedBytes(of body: [Response.Part]) -> Int {
    var count = 0
    for case .bytes(let bytes) in body {
      guard bytes.count <= copiedPartBytes else { break }
      count += bytes.count
    }
    return count
  }

  /// Writes once; says how many bytes, 0 where nothing could be written.
  ///
  /// - Throws: what the system says; of a file that has become shorter than what was promised, too.
  mutating func write(to socket: Socket) throws(SystemError) -> Int {
    guard !isEmpty else { return 0 }
    let outcome: Outcome<Int>
    if case .file(let file, let range) = parts[first] {
      let rest = (range.lowerBound + offset)..<range.upperBound
      outcome = try socket.send(file, rest.prefix(Self.fileBytesAtOnce))
      if case .done(0) = outcome {
        throw SystemError(call: "sendfile", purpose: "send a file that was cut short", code: EIO)
      }
    } else {
      outcome = try withSegments { segments, isLast throws(SystemError) in
        try socket.write(segments, hasMore: !isLast)
      }
    }
    guard case .done(let written) = outcome else { return 0 }
    consume(written)
    return written
  }

  private mutating func consume(_ written: Int) {
    offset += written
    byteCount -= written
    writtenCount += written
    while first < parts.count, offset >= parts[first].count {
      offset -= parts[first].count
      heldBytes -= parts[first].heldBytes
      parts[first] = .bytes([])
      first += 1
    }
    if isEmpty {
      parts.removeAll(keepingCapacity: parts.capacity <= 2)
      first = 0
    }
  }

  /// Lends the segments before the next file to a system call, and says whether they are the last.
  ///
  /// Each array is lent by a call of its own, one inside the other: that is the only way in which
  /// pointers into several arrays are valid at the same time.
  private func withSegments<Result>(
    _ body: (UnsafeBufferPointer<iovec>, _ isLast: Bool) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let count = min(self.count, Self.segmentsAtOnce)
    let segments = UnsafeMutableBufferPointer<iovec>.allocate(capacity: count)
    defer { segments.deallocate() }
    return try lend(0, segments, body)
  }

  private func lend<Result>(
    _ index: Int, _ segments: UnsafeMutableBufferPointer<iovec>,
    _ body: (UnsafeBufferPointer<iovec>, _ isLast: Bool) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    guard index < segments.count, case .bytes(let bytes) = parts[first + index] else {
      let lent = UnsafeBufferPointer(rebasing: segments[..<index])
      return try body(lent, first + index == parts.count)
    }
    return try bytes.withUnsafeBufferPointer { bytes throws(SystemError) in
      let skipped = index == 0 ? offset : 0
      segments[index] = iovec(
        iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress.map { $0 + skipped }),
        iov_len: bytes.count - skipped)
      return try lend(index + 1, segments, body)
    }
  }
}

extension Range<Int> {
  /// The first so many numbers.
  fileprivate func prefix(_ count: Int) -> Range<Int> {
    lowerBound..<Swift.min(upperBound, lowerBound + count)
  }
}
