import Glibc

/// An open file; closed when nobody holds it any more.
final class Descriptor {
  let path: String
  let number: Int32

  /// `open(2)`, never handed on to another program.
  init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(FileError) {
    self.path = path
    let verb = flags & O_ACCMODE == O_RDONLY ? "read" : "write"
    number = try retrying("\(verb) \(path)") { open(path, flags | O_CLOEXEC, mode) }
  }

  deinit { close(number) }

  /// Up to `count` bytes from the offset on; fewer only at the end of the file.
  func read(at offset: Int, count: Int) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let done = try retrying("read \(path)") {
        bytes.withUnsafeMutableBytes {
          pread(number, $0.baseAddress! + filled, count - filled, off_t(offset + filled))
        }
      }
      if done == 0 { break }
      filled += done
    }
    bytes.removeLast(count - filled)
    return bytes
  }

  /// Writes all of the bytes at the file's position.
  func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
    var written = 0
    while written < bytes.count {
      written += try retrying("write \(path)") {
        bytes.withUnsafeBytes {
          Glibc.write(number, $0.baseAddress! + written, $0.count - written)
        }
      }
    }
  }

  /// Writes all of the bytes from the offset on.
  func write(_ bytes: ArraySlice<UInt8>, at offset: Int) throws(FileError) {
    var written = 0
    while written < bytes.count {
      written += try retrying("write \(path)") {
        bytes.withUnsafeBytes {
          pwrite(
            number, $0.baseAddress! + written, $0.count - written, off_t(offset + written))
        }
      }
    }
  }

  /// Cuts the file to so many bytes.
  func cut(to count: Int) throws(FileError) {
    try retrying("write \(path)") { ftruncate(number, off_t(count)) }
  }

  /// Waits until the bytes written so far are on the disk (`fdatasync(2)`).
  func syncData() throws(FileError) { try retrying("write \(path)") { fdatasync(number) } }

  /// Waits until all of the file is on the disk (`fsync(2)`).
  func sync() throws(FileError) { try retrying("write \(path)") { fsync(number) } }

  var status: stat {
    get throws(FileError) {
      var status = stat()
      try retrying("ask about \(path)") { fstat(number, &status) }
      return status
    }
  }
}

/// Calls the body with the file's bytes, a piece at a time.
func readPieces(of file: Descriptor, _ body: ([UInt8]) throws -> Void) throws {
  let pieceBytes = 1 << 18
  var offset = 0
  while true {
    let piece = try file.read(at: offset, count: pieceBytes)
    if !piece.isEmpty { try body(piece) }
    if piece.count < pieceBytes { return }
    offset += piece.count
  }
}

/// What is said of a path; nil where there is nothing, or nothing that can be reached.
func status(of path: String) -> stat? {
  var status = stat()
  return stat(path, &status) == 0 ? status : nil
}
