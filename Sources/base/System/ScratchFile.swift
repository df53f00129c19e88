import Glibc

/// A file without a name, for bytes that need not outlive the process: the system writes it to the disk when
/// it needs the memory, and removes it when it is closed, however the process ends.
///
/// Reads and writes may overlap, from any thread: `pread` and `pwrite` share no position.
public final class ScratchFile: Sendable {
  /// The file to send from: bytes stay as written unless they are overwritten.
  public let file: OpenFile
  /// The same file, for a program that writes it.
  public let descriptor: Descriptor

  /// O_TMPFILE, a macro of macros that Swift does not import: __O_TMPFILE | O_DIRECTORY.
  private static let withoutName: Descriptor.Access = [
    .readingAndWriting, .folder, .init(rawValue: 0o20000000),
  ]

  /// Makes a file in a writable folder (`O_TMPFILE`, open(2); on file systems without it, a file whose name
  /// is removed at once).
  public init(folder: String) throws(SystemError) {
    if let unnamed = try? Descriptor(folder, Self.withoutName) {
      descriptor = unnamed
    } else {
      var name = Array("\(folder)/lookahead-scratch-XXXXXX".utf8CString)
      let number = try retrying("mkstemp", "make a scratch file in \(folder)") { mkstemp(&name) }
      unlink(name)
      _ = fcntl(number, F_SETFD, FD_CLOEXEC)
      descriptor = Descriptor(taking: number, path: folder)
    }
    file = OpenFile(descriptor, try descriptor.status)
  }

  /// The number of bytes that unprivileged users can still write to the file system; 0 if it does not say.
  public var freeBytes: Int { (try? file.file.freeBytes) ?? 0 }

  /// Writes all bytes at the offset (`pwrite(2)`).
  public func write(_ bytes: [UInt8], at offset: Int) throws(SystemError) {
    try file.file.write(bytes[...], at: offset)
  }

  /// Reads the pieces, one after another; nil if the file ends before one of them does. Pieces that are close
  /// together are read at once, and the bytes between them discarded.
  public func read(_ pieces: [Range<Int>]) throws(SystemError) -> [UInt8]? {
    var total = 0
    for piece in pieces { total += piece.count }
    var failure: SystemError?
    var bytes: [UInt8] = []
    bytes.append(addingCapacity: total) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        guard let start = buffer.baseAddress else { return }
        do throws(SystemError) {
          // All counted bytes were filled: each piece in turn, to its end.
          count = try fill(start, pieces)
        } catch {
          failure = error
        }
      }
    }
    if let failure { throw failure }
    return bytes.count == total ? bytes : nil
  }

  /// - Returns: the number of bytes that were filled: fewer than the pieces have if the file ends before.
  private func fill(_ target: UnsafeMutablePointer<UInt8>, _ pieces: [Range<Int>])
    throws(SystemError) -> Int
  {
    var filled = 0
    var index = 0
    while index < pieces.count {
      let run = Self.run(of: pieces, from: index)
      if run.count > 1, try fillAtOnce(target + filled, pieces[run]) {
        for piece in pieces[run] { filled += piece.count }
      } else {
        for piece in pieces[run] {
          let count = try file.file.fill(target + filled, piece)
          guard count == piece.count else { return filled }
          filled += count
        }
      }
      index = run.upperBound
    }
    return filled
  }

  /// Gaps of at most this many bytes are read too, which costs less than another call.
  private static let gapBytes = 4096
  /// The maximum number of pieces read at once: with the gaps between them no more than `IOV_MAX`, 1024.
  private static let piecesAtOnce = 500

  /// The pieces from this one on that are close together.
  private static func run(of pieces: [Range<Int>], from first: Int) -> Range<Int> {
    var end = first + 1
    while end < pieces.count, end - first < piecesAtOnce,
      (0...gapBytes).contains(pieces[end].lowerBound - pieces[end - 1].upperBound)
    {
      end += 1
    }
    return first..<end
  }

  /// Reads the pieces and the gaps between them (`preadv(2)`); false if it read fewer bytes.
  private func fillAtOnce(
    _ target: UnsafeMutablePointer<UInt8>, _ pieces: ArraySlice<Range<Int>>
  ) throws(SystemError) -> Bool {
    guard let start = pieces.first?.lowerBound else { return true }
    var gap = [UInt8](repeating: 0, count: Self.gapBytes)
    var failure: SystemError?
    let isWhole = gap.withUnsafeMutableBytes { gap in
      var vectors: [iovec] = []
      vectors.reserveCapacity(2 * pieces.count)
      var (position, end) = (target, start)
      for piece in pieces {
        if piece.lowerBound > end {
          vectors.append(iovec(iov_base: gap.baseAddress, iov_len: piece.lowerBound - end))
        }
        vectors.append(iovec(iov_base: position, iov_len: piece.count))
        position += piece.count
        end = piece.upperBound
      }
      do throws(SystemError) {
        let count = try retrying("preadv", "read a scratch file") {
          preadv(file.descriptor, vectors, Int32(vectors.count), off_t(start))
        }
        return count == end - start
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    return isWhole
  }
}

/// A name for a file that has none, for programs that choose the format by the name's extension: a link,
/// alone in a folder of its own, which is removed with the value. A process that is killed leaves both
/// behind, empty.
public final class ScratchName: Sendable {
  /// The path of the link.
  public let path: String
  private let folder: String

  /// Makes a link with this name to `target`, in a new folder within `folder`.
  public init(_ name: String, folder: String, to target: String) throws(SystemError) {
    var template = Array("\(folder)/lookahead-name-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw SystemError(call: "mkdtemp", purpose: "make a folder in \(folder)")
    }
    self.folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    path = "\(self.folder)/\(name)"
    guard symlink(target, path) == 0 else {
      throw SystemError(call: "symlink", purpose: "make a name in \(folder)")
    }
  }

  deinit {
    unlink(path)
    rmdir(folder)
  }
}
