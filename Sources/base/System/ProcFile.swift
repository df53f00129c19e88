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

/// How long processors have worked for a thread or process.
public enum ProcessorTime {
  /// For the thread that calls (`CLOCK_THREAD_CPUTIME_ID`).
  public static var threadNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// For how long a process was ready to run and no processor was free: of its threads, the one that waited most
  /// (`/proc/PID/task/TID/schedstat`; sched-stats.txt of the kernel's documentation). 0 where the kernel does not say.
  static func waitingMilliseconds(ofProcess process: pid_t) -> UInt64 {
    mostMilliseconds(ofProcess: process, column: 1)
  }

  /// For how long a processor worked for a process: of its threads, for the one for which it did most. 0 where the
  /// kernel does not say.
  static func ranMilliseconds(ofProcess process: pid_t) -> UInt64 {
    mostMilliseconds(ofProcess: process, column: 0)
  }

  private static func mostMilliseconds(ofProcess process: pid_t, column: Int) -> UInt64 {
    let threads = "/proc/\(process)/task"
    let times = ((try? FileSystem.names(in: threads)) ?? []).map { thread in
      ProcFile.read("\(threads)/\(thread)/schedstat").split(separator: " ").dropFirst(column).first
        .flatMap { UInt64($0) } ?? 0
    }
    return (times.max() ?? 0) / 1_000_000
  }

  /// Whether a process is ready to run and no processor is free: that wait is told as time only when it has ended.
  ///
  /// Looks twice, some milliseconds apart: of its threads, at least one is ready, and none of those has run meanwhile
  /// (the state in `/proc/PID/task/TID/stat`, proc(5), and the first figure of `schedstat`).
  static func isWaiting(process: pid_t) -> Bool {
    let ready = readyThreads(ofProcess: process)
    guard !ready.isEmpty else { return false }
    usleep(20_000)
    let later = readyThreads(ofProcess: process)
    return ready.allSatisfy { later[$0.key] == $0.value }
  }

  /// The threads that run or are ready to, and for how many nanoseconds each has run.
  private static func readyThreads(ofProcess process: pid_t) -> [String: Substring] {
    let threads = "/proc/\(process)/task"
    var ready: [String: Substring] = [:]
    for thread in (try? FileSystem.names(in: threads)) ?? [] {
      // The name of the program may hold anything but stands in parentheses.
      let state = ProcFile.read("\(threads)/\(thread)/stat").split(separator: ")").last?
        .drop { $0 == " " }.first
      guard state == "R" else { continue }
      ready[thread] = ProcFile.read("\(threads)/\(thread)/schedstat").split(separator: " ").first
    }
    return ready
  }

  /// For the children of this process that have ended (`getrusage(2)`).
  public static var childrenNanoseconds: UInt64 {
    var usage = rusage()
    getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { sum, time in
      sum + UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1_000
    }
  }
}
