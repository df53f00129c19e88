import Glibc

/// Reads what the kernel shows of this process.
public enum ProcFile {
  /// More than the longest file that is read here.
  private static let maximumBytes = 1 << 20

  /// The text of a file of `/proc`; empty where it cannot be read.
  public static func read(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while bytes.count < maximumBytes {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      guard count > 0 else { break }
      bytes.append(contentsOf: chunk[..<count])
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// How many descriptors this process has open.
  ///
  /// Since Linux 6.2 the folder's size says so at once; before that its entries are counted.
  public static func countOpenDescriptors() -> Int? {
    var status = stat()
    if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Int(status.st_size) }
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Not `.`, not `..`, and not the descriptor of the folder itself.
    return count - 3
  }

  /// How many ticks of `/proc`'s times a second has (`sysconf(3)`).
  public static var ticksPerSecond: Int { sysconf(Int32(_SC_CLK_TCK)) }

  /// How many bytes a page of memory has (`sysconf(3)`).
  public static var pageBytes: Int { sysconf(Int32(_SC_PAGESIZE)) }

  /// How many descriptors this process may have open (`getrlimit(2)`).
  public static func descriptorLimit() -> Double? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
    return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
  }
}
