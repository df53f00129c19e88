import Glibc

/// Reads what the kernel shows of a process.
public enum ProcFile {
  /// More than the longest file that is read here.
  private static let maximumBytes = 1 << 20
  private static let pieceBytes = 4096

  /// The text of a file of `/proc`; empty if it cannot be read.
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

  /// The number of open descriptors of this process.
  ///
  /// Since Linux 6.2 it is the folder's size; before that the entries are counted.
  public static func countOpenDescriptors() -> Int? {
    let path = "/proc/self/fd"
    if let count = try? FileStatus(path: path).bytes, count > 0 { return count }
    // Without the descriptor of the folder itself.
    return (try? FileSystem.names(in: path)).map { $0.count - 1 }
  }

  /// The number of ticks per second in times of `/proc` (`sysconf(3)`).
  public static var ticksPerSecond: Int { sysconf(Int32(_SC_CLK_TCK)) }

  /// The number of bytes of a page of memory (`sysconf(3)`).
  public static var pageBytes: Int { sysconf(Int32(_SC_PAGESIZE)) }

  /// The maximum number of open descriptors of this process (`getrlimit(2)`).
  public static func descriptorLimit() -> Double? {
    guard let limit = DescriptorLimit.current else { return nil }
    return limit.rlim_cur == rlim_t.max ? .infinity : Double(limit.rlim_cur)
  }
}

/// The processor time of threads and processes.
public enum ProcessorTime {
  /// The processor time of the calling thread (`CLOCK_THREAD_CPUTIME_ID`).
  public static var threadNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The time for which a process was ready to run and no processor was free: that of its thread that waited
  /// most (`/proc/PID/task/TID/schedstat`; sched-stats.txt of the kernel's documentation). 0 if the kernel
  /// does not give it.
  static func waitingMilliseconds(ofProcess process: pid_t) -> UInt64 {
    mostMilliseconds(ofProcess: process, column: 1)
  }

  /// The time for which a processor worked for a process: that of its thread that ran most. 0 if the kernel
  /// does not give it.
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

  /// Whether a process is ready to run and no processor is free. The kernel counts such a wait only when it
  /// has ended.
  ///
  /// It checks twice, 20 ms apart: at least one thread is ready, and no ready thread has run meanwhile (the
  /// state in `/proc/PID/task/TID/stat`, proc(5), and the first figure of `schedstat`).
  static func isWaiting(process: pid_t) -> Bool {
    let ready = readyThreads(ofProcess: process)
    guard !ready.isEmpty else { return false }
    usleep(20_000)
    let later = readyThreads(ofProcess: process)
    return ready.allSatisfy { later[$0.key] == $0.value }
  }

  /// The threads that run or are ready to, with the nanoseconds for which each has run.
  private static func readyThreads(ofProcess process: pid_t) -> [String: Substring] {
    let threads = "/proc/\(process)/task"
    var ready: [String: Substring] = [:]
    for thread in (try? FileSystem.names(in: threads)) ?? [] {
      // The name of the program is in parentheses, and may contain any character.
      let state = ProcFile.read("\(threads)/\(thread)/stat").split(separator: ")").last?
        .drop { $0 == " " }.first
      guard state == "R" else { continue }
      ready[thread] = ProcFile.read("\(threads)/\(thread)/schedstat").split(separator: " ").first
    }
    return ready
  }

  /// The processor time of this process's children that have ended (`getrusage(2)`).
  public static var childrenNanoseconds: UInt64 {
    var usage = rusage()
    getrusage(RUSAGE_CHILDREN.rawValue, &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { sum, time in
      sum + UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_usec) * 1_000
    }
  }
}
