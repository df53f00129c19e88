import Glibc

/// Reads what the kernel shows of this process.
public enum ProcFile {
  /// More than the longest file that is read here.
  private static let maximumBytes = 1 << 20
  private static let pieceBytes = 4096

  /// The text of a file of `/proc`; empty where it cannot be read.
  public static func read(_ path: String) -> String {
    guard let file = try? Descriptor(path) else { return "" }
    var bytes: [UInt8] = []
    while bytes.count < maximumBytes, let next = try? file.readNext(atMost: pieceBytes),
      !next.isEmpty
    {
      bytes += next
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// How many descriptors this process has open.
  ///
  /// Since Linux 6.2 the folder's size says so at once; before that its entries are counted.
  public static func countOpenDescriptors() -> Int? {
    let path = "/proc/self/fd"
    if let count = try? FileStatus(path: path).bytes, count > 0 { return count }
    // Not the descriptor of the folder itself.
    return (try? FileSystem.names(in: path)).map { $0.count - 1 }
  }

  /// How many ticks of `/proc`'s times a second has (`sysconf(3)`).
  public static var ticksPerSecond: Int { sysconf(Int32(_SC_CLK_TCK)) }

  /// How many bytes a page of memory has (`sysconf(3)`).
  public static var pageBytes: Int { sysconf(Int32(_SC_PAGESIZE)) }

  /// How many descriptors this process may have open (`getrlimit(2)`).
  public static func descriptorLimit() -> Double? {
    guard let limit = DescriptorLimit.current else { return nil }
    return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
  }
}
