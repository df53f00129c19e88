import MediaFormats
import SHA2
import System

/// A file that is read in place. It is opened once, so that a rename does not replace it while it is read.
final class FileSource: ByteSource {
  let file: OpenFile

  /// The number of bytes hashed at a time.
  private static let pieceBytes = 1 << 18

  /// Opens the file at a path.
  ///
  /// - Throws: `ProbeError`.
  convenience init(path: String) throws(ProbeError) {
    let descriptor: Descriptor
    do throws(SystemError) {
      // Opening a FIFO must not wait.
      descriptor = try Descriptor(path, .withoutWaiting)
    } catch {
      throw .system(error)
    }
    guard let file = OpenFile(descriptor) else { throw .notAFile }
    self.init(file)
  }

  init(_ file: OpenFile) { self.file = file }

  var size: Int64 { Int64(file.size) }

  func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    try file.read(at: Int(offset), count: count)
  }

  /// Returns the SHA-256 of the whole file.
  ///
  /// - Throws: `ProbeError.changed` if the file changed since it was opened, `tooLarge`,
  ///   `readingTimedOut`, `cancelled`.
  func digest(_ settings: ProbeSettings) throws(ProbeError) -> [UInt8] {
    guard file.size <= settings.fileBytes else {
      throw .tooLarge(bytes: file.size, limitBytes: settings.fileBytes)
    }
    let deadline = MonotonicClock.milliseconds + UInt64(settings.readMilliseconds)
    let cancellation = settings.cancellation
    var isLate = false
    var hash = SHA256()
    var offset = 0
    do throws(SystemError) {
      while offset < file.size {
        let piece = try file.read(at: offset, count: min(Self.pieceBytes, file.size - offset))
        isLate = MonotonicClock.milliseconds > deadline
        if piece.isEmpty || isLate || cancellation?.isCancelled == true { break }
        hash.update(piece)
        offset += piece.count
      }
    } catch {
      throw .system(error)
    }
    guard cancellation?.isCancelled != true else { throw .cancelled }
    guard !isLate else { throw .readingTimedOut(milliseconds: settings.readMilliseconds) }
    guard offset == file.size else { throw .changed }
    try requireUnchanged()
    return hash.finalize()
  }

  /// Checks that the file is unchanged.
  ///
  /// - Throws: `ProbeError.changed` if it changed since it was opened.
  func requireUnchanged() throws(ProbeError) {
    let isSame: Bool
    do throws(SystemError) {
      isSame = try file.isAsOpened
    } catch {
      throw .system(error)
    }
    guard isSame else { throw .changed }
  }
}
