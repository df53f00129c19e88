import MediaFormats
import Synchronization

/// A file in memory that notes what is asked of it.
final class CountingSource: ByteSource {
  let size: Int64
  private let bytes: [UInt8]
  private let asked = Mutex<[Range<Int64>]>([])

  /// `saidSize` is what it says of its size.
  init(_ bytes: [UInt8], saidSize: Int? = nil) {
    self.bytes = bytes
    size = Int64(saidSize ?? bytes.count)
  }

  var ranges: [Range<Int64>] { asked.withLock { $0 } }
  var bytesRead: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

  func bytes(at offset: Int64, count: Int) throws -> [UInt8] {
    precondition(offset >= 0 && count > 0 && offset + Int64(count) <= size)
    asked.withLock { $0.append(offset..<offset + Int64(count)) }
    return Array(bytes.dropFirst(Int(offset)).prefix(count))
  }
}
