import Glibc

/// Standard output and standard error: they may be full or closed, which ends no program.
public enum StandardStream: Int32, Sendable {
  /// Standard output.
  case output = 1
  /// Standard error.
  case error = 2

  /// Has `/dev/null` in the place of each of the three streams that is closed, so that no file is opened under its
  /// number and written to by mistake. Standard output then refuses what is written, as a closed one does. To be called
  /// first thing in the main thread.
  public static func openClosed() {
    for number in Int32(0)...2 where fcntl(number, F_GETFD) == -1 && errno == EBADF {
      // The lowest number that is free is this one (open(2)).
      _ = open("/dev/null", number == StandardStream.error.rawValue ? O_RDWR : O_RDONLY)
    }
  }

  /// Writes all of it, and waits for a reader that is slow.
  ///
  /// - Throws: `SystemError`, which has `EPIPE` if the reader is gone.
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
