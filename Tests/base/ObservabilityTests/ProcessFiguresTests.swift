import Glibc
import System
import Testing

@testable import Observability

struct ProcessFiguresTests {
  static let line =
    "4242 (a) b (c) S 1 4242 4242 0 -1 4194560 900 0 2 0 150 50 0 0 20 0 7 0 12345 "
    + "67890432 1234 18446744073709551615 1 1 0 0 0 0 0 4096 17663 0 0 0 17 1 0 0 0 0 0\n"

  @Test func `a name with spaces and parentheses moves no field`() throws {
    let status = try #require(ProcessStatus(stat: Self.line))
    #expect(status.processorTicks == 200)
    #expect(status.threads == 7)
    #expect(status.startTicks == 12345)
    #expect(status.virtualBytes == 67_890_432)
    #expect(status.residentPages == 1234)
  }

  @Test(arguments: ["", "4242 (a", "4242 (a) S 1 2 3", String(line.dropLast(160))])
  func `what is not as it should be is nothing`(_ text: String) {
    #expect(ProcessStatus(stat: text) == nil)
  }

  @Test func `the start of the machine is a line of its own`() {
    #expect(
      ProcessStatus.bootSeconds(stat: "cpu 1 2\nbtime 1700000000\nprocesses 9\n") == 1_700_000_000)
    #expect(ProcessStatus.bootSeconds(stat: "cpu 1 2\n") == nil)
  }

  @Test func `this process has plausible figures`() throws {
    let registry = PrometheusRegistry()
    ProcessFigures.register(in: registry)
    let figures = Dictionary(
      uniqueKeysWithValues: registry.samples.map { line in
        let parts = line.split(separator: " ")
        return (String(parts[0]), Double(parts[1].replacing("+Inf", with: "infinity")) ?? .nan)
      })
    #expect(figures.count == 7)
    let resident = try #require(figures["process_resident_memory_bytes"])
    let virtual = try #require(figures["process_virtual_memory_bytes"])
    #expect(resident > 1_000_000 && resident < virtual)
    #expect(try #require(figures["process_threads"]) >= 1)
    #expect(try #require(figures["process_cpu_seconds_total"]) >= 0)
    let open = try #require(figures["process_open_fds"])
    #expect(open >= 3 && open <= figures["process_max_fds"] ?? 0)
    let start = try #require(figures["process_start_time_seconds"])
    #expect(
      start > 1_700_000_000 && start <= Double(WallClock.exactNow.nanosecondsSince1970) / 1e9 + 1)
  }

  @Test func `an opened file is counted at the next scrape`() throws {
    let before = try #require(ProcFile.countOpenDescriptors())
    let opened = (0..<100).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
    defer { for descriptor in opened { close(descriptor) } }
    let after = try #require(ProcFile.countOpenDescriptors())
    // Other tests open and close files at the same time.
    #expect(abs(after - before - 100) < 50)
  }
}
