import CoreMetrics
import System

/// The kernel's figures of this process, with the names that Prometheus' own clients use
/// (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics).
public enum ProcessFigures {
  /// Registers the figures; each scrape reads them from `/proc/self` (`proc(5)`).
  ///
  /// A figure that cannot be read keeps its last value.
  public static func register(in registry: PrometheusRegistry) {
    describe(in: registry)
    let processorSeconds = registry.counter("process_cpu_seconds_total")
    let residentBytes = registry.makeMeter(label: "process_resident_memory_bytes", dimensions: [])
    let virtualBytes = registry.makeMeter(label: "process_virtual_memory_bytes", dimensions: [])
    let startSeconds = registry.makeMeter(label: "process_start_time_seconds", dimensions: [])
    let threads = registry.makeMeter(label: "process_threads", dimensions: [])
    let openFiles = registry.makeMeter(label: "process_open_fds", dimensions: [])
    let maximumFiles = registry.makeMeter(label: "process_max_fds", dimensions: [])
    let ticksASecond = Double(ProcFile.ticksPerSecond)
    if let status = ProcessStatus(stat: ProcFile.read("/proc/self/stat")),
      let boot = ProcessStatus.bootSeconds(stat: ProcFile.read("/proc/stat"))
    {
      startSeconds.set(Double(boot) + Double(status.startTicks) / ticksASecond)
    }
    registry.onScrape {
      if let status = ProcessStatus(stat: ProcFile.read("/proc/self/stat")) {
        processorSeconds.set(Double(status.processorTicks) / ticksASecond)
        residentBytes.set(Double(status.residentPages) * Double(ProcFile.pageBytes))
        virtualBytes.set(Double(status.virtualBytes))
        threads.set(Double(status.threads))
      }
      if let count = ProcFile.countOpenDescriptors() { openFiles.set(Double(count)) }
      if let limit = ProcFile.descriptorLimit() { maximumFiles.set(limit) }
    }
  }

  private static func describe(in registry: PrometheusRegistry) {
    let helps = [
      ("process_cpu_seconds_total", "Total user and system CPU time spent in seconds."),
      ("process_resident_memory_bytes", "Resident memory size in bytes."),
      ("process_virtual_memory_bytes", "Virtual memory size in bytes."),
      ("process_start_time_seconds", "Start time of the process since unix epoch in seconds."),
      ("process_threads", "Threads."),
      ("process_open_fds", "Number of open file descriptors."),
      ("process_max_fds", "Maximum number of open file descriptors."),
    ]
    for (name, help) in helps { registry.describe(name, help: help) }
  }
}

/// The contents of `/proc/self/stat` (`proc_pid_stat(5)`).
struct ProcessStatus: Equatable {
  var processorTicks: Int
  var threads: Int
  /// The start of the process, in ticks since the machine was started.
  var startTicks: Int
  var virtualBytes: Int
  var residentPages: Int

  /// Parses the line; `nil` if it is malformed.
  ///
  /// The second field is the program's name in parentheses and may contain spaces and parentheses itself, so
  /// the fields are counted from the last closing one.
  init?(stat: String) {
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
    /// The field with this number in the manual, where the first after the name is the third.
    func field(_ number: Int) -> Int? {
      fields.indices.contains(number - 3) ? Int(fields[number - 3]) : nil
    }
    guard let user = field(14), let system = field(15), let threads = field(20),
      let start = field(22), let virtualBytes = field(23), let residentPages = field(24)
    else { return nil }
    processorTicks = user + system
    self.threads = threads
    startTicks = start
    self.virtualBytes = virtualBytes
    self.residentPages = residentPages
  }

  /// When the machine was started, in seconds since 1970, from `/proc/stat` (`proc_stat(5)`).
  static func bootSeconds(stat: String) -> Int? {
    for line in stat.split(separator: "\n") where line.hasPrefix("btime ") {
      return Int(line.dropFirst("btime ".count))
    }
    return nil
  }
}
