#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open file, closed when the value is released.
final class SystemFile: Sendable {
  private let descriptor: Int32
  private let path: String

  /// Opens the file; creates it if it is absent and `create` is true.
  init(path: String, create: Bool) throws(RangeStoreError) {
    self.path = path
    descriptor = try Self.checked("open", path) {
      open(path, create ? O_RDWR | O_CREAT | O_CLOEXEC : O_RDWR | O_CLOEXEC, 0o600)
    }
  }

  deinit {
    // A child process has a copy of the descriptor until it executes its program: closing ours alone would
    // leave the file locked until then (flock(2)).
    flock(descriptor, LOCK_UN)
    close(descriptor)
  }

  /// Takes the file's lock; false if another holder has it. It is held as long as this value lives, and ends
  /// with the process in any case.
  func lock() throws(RangeStoreError) -> Bool {
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
    guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("flock") }
    return false
  }

  /// Writes all bytes at the offset.
  func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(RangeStoreError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress! + written, $0.count - written, off_t(offset + written))
      }
      if count < 0 {
        guard errno == EINTR else { throw failure("pwrite") }
      } else if count == 0 {
        throw .system(call: "pwrite", path: path, code: ENOSPC)
      } else {
        written += count
      }
    }
  }

  /// Reads the range; fewer bytes if the file ends before it does.
  func read(_ range: Range<Int>) throws(RangeStoreError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    var filled = 0
    while filled < bytes.count {
      let count = bytes.withUnsafeMutableBytes {
        pread(
          descriptor, $0.baseAddress! + filled, $0.count - filled,
          off_t(range.lowerBound + filled))
      }
      if count < 0 {
        guard errno == EINTR else { throw failure("pread") }
      } else if count == 0 {
        break
      } else {
        filled += count
      }
    }
    return Array(bytes[..<filled])
  }

  /// The size in bytes.
  func size() throws(RangeStoreError) -> Int {
    let end = lseek(descriptor, 0, SEEK_END)
    if end < 0 { throw failure("lseek") }
    return Int(end)
  }

  /// Truncates the file to this size.
  func truncate(to bytes: Int) throws(RangeStoreError) {
    try Self.checked("ftruncate", path) { ftruncate(descriptor, off_t(bytes)) }
  }

  /// Sets the modification time to now.
  func touch() { _ = futimens(descriptor, nil) }

  private func failure(_ call: String) -> RangeStoreError {
    .system(call: call, path: path, code: errno)
  }

  @discardableResult
  private static func checked(
    _ name: String, _ path: String, _ call: () -> Int32
  ) throws(RangeStoreError) -> Int32 {
    while true {
      let result = call()
      if result >= 0 { return result }
      if errno != EINTR { throw .system(call: name, path: path, code: errno) }
    }
  }
}
