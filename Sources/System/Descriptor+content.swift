import CLinux
import Glibc

extension Descriptor {
  /// Up to `count` bytes from the offset on; fewer only at the end of the file.
  public func read(at offset: Int, count: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try fill(buffer.baseAddress, offset..<(offset + count))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Fills as many bytes as the range has, fewer only at the end of the file; says how many.
  func fill(
    _ target: UnsafeMutablePointer<UInt8>?, _ range: Range<Int>
  ) throws(SystemError) -> Int {
    var filled = 0
    while filled < range.count {
      let done = try retrying("pread", "read \(path)") {
        pread(
          number, target.map { $0 + filled }, range.count - filled,
          off_t(range.lowerBound + filled))
      }
      if done == 0 { break }
      filled += done
    }
    return filled
  }

  /// The next bytes at the file's position, so many at the most; none at its end.
  public func readNext(atMost count: Int) throws(SystemError) -> [UInt8] {
    var failure: SystemError?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try retrying("read", "read \(path)") {
          Glibc.read(number, buffer.baseAddress, count)
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Calls the body with the file's bytes, a piece at a time.
  public func readPieces(_ body: ([UInt8]) throws -> Void) throws {
    let pieceBytes = 1 << 18
    var offset = 0
    while true {
      let piece = try read(at: offset, count: pieceBytes)
      if !piece.isEmpty { try body(piece) }
      if piece.count < pieceBytes { return }
      offset += piece.count
    }
  }

  /// Writes all of the bytes at the file's position.
  public func write(_ bytes: ArraySlice<UInt8>) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try retrying("write", "write \(path)") {
        bytes.withUnsafeBytes {
          Glibc.write(number, $0.baseAddress.map { $0 + written }, $0.count - written)
        }
      }
    }
  }

  /// Writes all of the bytes from the offset on.
  public func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(SystemError) {
    var written = 0
    while written < bytes.count {
      written += try retrying("pwrite", "write \(path)") {
        bytes.withUnsafeBytes {
          pwrite(
            number, $0.baseAddress.map { $0 + written }, $0.count - written,
            off_t(offset + written))
        }
      }
    }
  }

  /// Writes to a descriptor that may be one that does not block, waiting until it takes more; says how
  /// many bytes were written before the first failure.
  public static func writeAll(_ bytes: [UInt8], to number: Int32) -> Int {
    bytes.withUnsafeBytes { bytes in
      var written = 0
      while written < bytes.count {
        let outcome = try? retryingOrBlocking("write", "write") {
          Glibc.write(number, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        }
        switch outcome {
        case .done(let count) where count > 0: written += count
        case .wouldBlock:
          var polled = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
          poll(&polled, 1, -1)
        default: return written
        }
      }
      return written
    }
  }

  /// Cuts the file to so many bytes.
  public func cut(to count: Int) throws(SystemError) {
    try retrying("ftruncate", "write \(path)") { ftruncate(number, off_t(count)) }
  }

  /// Waits until the bytes written so far are on the disk (`fdatasync(2)`).
  public func syncData() throws(SystemError) {
    try retrying("fdatasync", "write \(path)") { fdatasync(number) }
  }

  /// Waits until all of the file, or the names in the folder, are on the disk (`fsync(2)`).
  public func sync() throws(SystemError) {
    try retrying("fsync", "write \(path)") { fsync(number) }
  }

  /// Sets who may do what with it.
  public func setPermissions(_ permissions: UInt32) throws(SystemError) {
    try retrying("fchmod", "set the mode of \(path)") { fchmod(number, permissions) }
  }

  /// Gives it to a user and a group.
  public func setOwner(_ owner: UInt32, group: UInt32) throws(SystemError) {
    try retrying("fchown", "set the owner of \(path)") { fchown(number, owner, group) }
  }

  /// Lets this descriptor stand for what another one does; its number stays (`dup3(2)`).
  public func become(_ other: Descriptor) throws(SystemError) {
    try retrying("dup3", "write \(path)") { dup3(other.number, number, O_CLOEXEC) }
  }
}
