import Glibc

/// Standard output and standard error. The program continues if they are full or closed.
public enum StandardStream: Int32, Sendable {
  /// Standard output.
  case output = 1
  /// Standard error.
  case error = 2

  /// Opens `/dev/null` in place of each of the three streams that is closed, so that no file gets its number
  /// and is written to by mistake. Standard output then refuses writes, as a closed one does. Call it first
  /// in the main thread.
  public static func openClosed() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 && errno == EBADF {
      // open(2) returns the lowest free number, which is this one.
      _ = open("/dev/null", number == StandardStream.error.rawValue ? O_RDWR : O_RDONLY)
    }
  }

  /// Writes all bytes, waiting for a slow reader.
  ///
  /// - Throws: `SystemError`; `EPIPE` if the reader is gone.
  public func write(_ bytes: [UInt8]) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      let outcome = try retryingOrBlocking("write", "write \(name)") {
        bytes.withUnsafeBytes {
          Glibc.write(rawValue, $0.baseAddress.map { $0 + written }, $0.count - written)
        }
      }
      switch outcome {
      case .done(let count): written += count
      case .wouldBlock:
        var waiting = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
        poll(&waiting, 1, -1)
      }
    }
  }

  private var name: String { self == .output ? "standard output" : "standard error" }
}
