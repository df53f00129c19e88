import Glibc
import Sockets
import System

extension OutputQueue {
  /// The maximum number of bytes of a file that one `sendfile` sends.
  private static let fileBytesAtOnce = 262_144

  /// Writes once from the queue, which must not be empty; returns the number of bytes that were accepted.
  ///
  /// - Throws: the system's error, also for a file that has become shorter than was promised.
  func write(to socket: Socket) throws(SystemError) -> Outcome<Int> {
    guard case .file(let file, let range) = parts[0] else {
      return try withSegments { segments, isLast throws(SystemError) in
        try socket.write(segments, hasMore: !isLast)
      }
    }
    let rest = (range.lowerBound + offset)..<range.upperBound
    let outcome = try socket.send(file, rest.prefix(Self.fileBytesAtOnce))
    if case .done(0) = outcome {
      throw SystemError(call: "sendfile", purpose: "send a file that was truncated", code: EIO)
    }
    return outcome
  }

  /// Passes the segments before the next file to a system call, and whether they are the last.
  ///
  /// Each array is lent by a call of its own, one inside the other: this is the only way in which pointers
  /// into several arrays are valid at the same time.
  private func withSegments<Result>(
    _ body: (UnsafeBufferPointer<iovec>, _ isLast: Bool) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    let count = min(parts.count, Self.segmentsAtOnce)
    return try withUnsafeTemporaryAllocation(of: iovec.self, capacity: count) {
      segments throws(SystemError) in
      try lend(0, segments, body)
    }
  }

  private func lend<Result>(
    _ index: Int, _ segments: UnsafeMutableBufferPointer<iovec>,
    _ body: (UnsafeBufferPointer<iovec>, _ isLast: Bool) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    guard index < segments.count, case .bytes(let bytes) = parts[index] else {
      let lent = UnsafeBufferPointer(rebasing: segments[..<index])
      // The next part may take a while to fetch: the segments that are here do not wait for it.
      return try body(lent, index == parts.count || parts[index].isElsewhere)
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
  /// The first `count` numbers.
  fileprivate func prefix(_ count: Int) -> Range<Int> {
    lowerBound..<Swift.min(upperBound, lowerBound + count)
  }
}
