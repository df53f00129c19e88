import CoreMetrics
import System

/// What the kernel counts of this process, by the names that Prometheus' own clients use
/// (https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics).
public enum ProcessFigures {
  /// Adds them to a registry; they are read from `/proc/self` (`proc(5)`) at each scrape.
  ///
  /// What cannot be read keeps its last value.
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
      ("process_cpu_seconds_total", "Processor time spent, user and system, in seconds."),
      ("process_resident_memory_bytes", "Memory that is resident."),
      ("process_virtual_memory_bytes", "Address space."),
      ("process_start_time_seconds", "When the process started, in seconds since 1970."),
      ("process_threads", "Threads."),
      ("process_open_fds", "Open file descriptors."),
      ("process_max_fds", "The most file descriptors that may be open."),
    ]
    for (name, help) in helps { registry.describe(name, help: help) }
  }
}
