import Glibc

/// A pipe whose reading end is the test's. It is closed by `close()`.
final class TestPipe {
  let reader: Int32
  let writer: Int32
  private var isReaderOpen = true

  init(isBlocking: Bool = true) {
    var ends: [Int32] = [0, 0]
    precondition(pipe(&ends) == 0)
    (reader, writer) = (ends[0], ends[1])
    if !isBlocking { for end in ends { precondition(fcntl(end, F_SETFL, O_NONBLOCK) == 0) } }
  }

  func close() {
    closeReader()
    Glibc.close(writer)
  }

  func closeReader() {
    if isReaderOpen { Glibc.close(reader) }
    isReaderOpen = false
  }

  /// Waits until it takes no more.
  func waitUntilFull() {
    var ready = pollfd(fd: writer, events: Int16(POLLOUT), revents: 0)
    while poll(&ready, 1, 0) != 0 { sched_yield() }
  }

  /// Fills it to the brim, and says by how many bytes. Only for one that does not block.
  func fill() -> Int {
    let page = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
    var count = 0
    while write(writer, page, page.count) == page.count { count += page.count }
    return count
  }

  /// Waits until this many bytes have come and returns them.
  func read(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < count {
      var ready = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
      poll(&ready, 1, -1)
      let got = Glibc.read(reader, &chunk, min(chunk.count, count - bytes.count))
      if got == 0 { break }
      if got > 0 { bytes += chunk[..<got] }
    }
    return bytes
  }

  /// Reads what is there. Only for one that does not block.
  func readAvailable() -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let got = Glibc.read(reader, &chunk, chunk.count)
      guard got > 0 else { return bytes }
      bytes += chunk[..<got]
    }
  }
}
