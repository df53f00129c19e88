import Foundation
import Glibc
import Synchronization
import System
import TestSupport
import Testing

/// Other programs run within their limits, and leave nothing behind.
@Suite struct ChildProcessTests {
  private static let limits = ChildProcess.Limits(
    timeMilliseconds: 60_000, memoryBytes: 1 << 30, outputBytes: 1 << 20)

  private static func shell(
    _ script: String, _ limits: ChildProcess.Limits = limits, environment: [String] = [],
    hasNetwork: Bool = false, input: OpenFile? = nil
  ) throws -> ChildProcess.Outcome {
    let path = try #require(ChildProcess.path(ofProgram: "bash"))
    return try ChildProcess(
      path: path, arguments: ["-c", script], environment: environment, limits: limits,
      hasNetwork: hasNetwork
    ).run(input: input)
  }

  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test func `what it writes and how it ends is told`() throws {
    let outcome = try Self.shell("echo out; echo err >&2; exit 3")
    #expect(outcome.end == .exited(3))
    #expect(Self.text(outcome.output) == "out\n")
    #expect(Self.text(outcome.errors) == "err\n")
    #expect(outcome.peakMemoryBytes > 0)
    #expect(try Self.shell("kill -SEGV $$").end == .signalled(SIGSEGV))
  }

  @Test func `it may write files up to a limit, and give way to all others`() throws {
    let folder = TemporaryFolder()
    var limits = Self.limits
    let script = "printf 12345678 >\(folder.file("it")); /usr/bin/chrt -p $$; /usr/bin/nice"
    _ = try Self.shell(script, limits)
    #expect(try String(contentsOfFile: folder.file("it"), encoding: .utf8).isEmpty)
    limits.fileBytes = 4
    _ = try Self.shell(script, limits)
    #expect(try String(contentsOfFile: folder.file("it"), encoding: .utf8) == "1234")
    limits.fileBytes = .max
    let own = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
    limits.nice = 7
    let niced = Self.text(try Self.shell(script, limits).output)
    #expect(!niced.contains("SCHED_IDLE") && niced.hasSuffix("\(max(7, own))\n"), "\(niced)")
    limits.nice = 19
    let said = Self.text(try Self.shell(script, limits).output)
    #expect(try String(contentsOfFile: folder.file("it"), encoding: .utf8) == "12345678")
    #expect(said.contains("SCHED_IDLE") && said.hasSuffix("19\n"), "\(said)")
    let busy = try Self.shell("i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done")
    #expect(busy.processorMilliseconds > 0)
  }

  @Test func `it ends when it is given up`() throws {
    let cancellation = Cancellation()
    let path = try #require(ChildProcess.path(ofProgram: "sleep"))
    try startThread { cancellation.cancel() }
    let outcome = try ChildProcess(path: path, arguments: ["60"], limits: Self.limits)
      .run(cancellation: cancellation)
    #expect(outcome.end == .cancelled)
  }

  @Test func `it has the environment it is given, the root as its folder and nothing to read`()
    throws
  {
    let outcome = try Self.shell(
      "/usr/bin/env; pwd; read -r line || echo nothing", environment: ["A=b"])
    let lines = Self.text(outcome.output).split(separator: "\n").map(String.init)
    #expect(lines.contains("A=b"))
    #expect(!lines.contains { $0.hasPrefix("HOME=") || $0.hasPrefix("PATH=") })
    #expect(lines.suffix(2) == ["/", "nothing"])
  }

  @Test func `it has three descriptors, whatever else is open here`() throws {
    let folder = TemporaryFolder()
    let path = try folder.write("", to: "open")
    // Not marked to be closed.
    let number = open(path, O_RDONLY)
    defer { close(number) }
    #expect(number >= 0)
    // The fourth is the folder that ls reads.
    #expect(Self.text(try Self.shell("exec /bin/ls /proc/self/fd").output) == "0\n1\n2\n3\n")
  }

  @Test func `a file without a name can be read, and opened anew`() throws {
    let folder = TemporaryFolder()
    let scratch = try ScratchFile(folder: folder.path)
    try scratch.write(Array("content".utf8), at: 0)
    let outcome = try Self.shell(
      "/bin/cat /dev/fd/0; /bin/cat /dev/fd/0", input: scratch.file)
    #expect(Self.text(outcome.output) == "contentcontent")
  }

  @Test func `it ends when its time is over, with all that it started`() throws {
    var limits = Self.limits
    limits.timeMilliseconds = 300
    let outcome = try Self.shell("/bin/sleep 1000 & echo $!; /bin/sleep 1000", limits)
    #expect(outcome.end == .timedOut)
    let process = try #require(Int(Self.text(outcome.output).dropLast()))
    // Gone, or dead and not yet buried by whoever buries orphans here.
    func isRunning() -> Bool {
      let status = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
      return !status.isEmpty && !status.contains(") Z ")
    }
    #expect(eventually { !isRunning() })
  }

  @Test(.enabled(if: access("/proc/self/schedstat", R_OK) == 0, "the kernel counts waiting"))
  func `time in which others have the processors does not count`() throws {
    let isOver = Flag()
    for _ in 0..<2 * ProcessInfo.processInfo.activeProcessorCount {
      Thread.detachNewThread { while !isOver.isSet {} }
    }
    defer { isOver.set() }
    var limits = Self.limits
    limits.timeMilliseconds = 1_000
    // A fifth of a second of work, which has a twentieth of a processor.
    let outcome = try Self.shell(
      "exec /usr/bin/nice -n 10 /bin/bash -c 'for ((i = 0; i < 60000; i++)); do :; done; echo done'",
      limits)
    #expect(outcome.end == .exited(0))
    #expect(Self.text(outcome.output) == "done\n")
  }

  @Test func `what it leaves running is ended and not waited for`() throws {
    let outcome = try Self.shell("/bin/sleep 1000 & echo done")
    #expect(outcome.end == .exited(0))
    #expect(Self.text(outcome.output) == "done\n")
  }

  @Test func `it ends when it writes too much, and errors are cut`() throws {
    var limits = Self.limits
    limits.outputBytes = 100_000
    let outcome = try Self.shell("exec /usr/bin/yes", limits)
    #expect(outcome.end == .wroteTooMuch)
    #expect(outcome.output.count == 100_000)
    limits.errorBytes = 1_000
    let other = try Self.shell("/usr/bin/yes | /usr/bin/head -c 1000000 >&2", limits)
    #expect(other.end == .exited(0))
    #expect(other.errors.count == 1_000)
    #expect(try Self.shell("/usr/bin/yes | /usr/bin/head -c 100000", limits).end == .exited(0))
  }

  @Test func `it has no more memory than it may have`() throws {
    var limits = Self.limits
    limits.memoryBytes = 100 << 20
    // tail keeps what it may have to show.
    let script = "/usr/bin/head -c 200M /dev/zero | /usr/bin/tail -n 1 | /usr/bin/wc -c"
    #expect(Self.text(try Self.shell(script, limits).output) == "0\n")
    #expect(Self.text(try Self.shell(script).output) == "209715200\n")
  }

  @Test func `it writes no file and opens no socket`() throws {
    let folder = TemporaryFolder()
    #expect(try Self.shell("echo x > \(folder.file("new"))").end != .exited(0))
    let script = "exec 3<>/dev/tcp/127.0.0.1/1"
    #expect(Self.text(try Self.shell(script).errors).contains("Permission denied"))
    #expect(
      Self.text(try Self.shell(script, hasNetwork: true).errors).contains("Connection refused"))
  }

  @Test func `a program that is not there is an error`() {
    let error = #expect(throws: SystemError.self) {
      try ChildProcess(path: "/nowhere/x", arguments: [], limits: Self.limits).run()
    }
    #expect(error?.description == "cannot run /nowhere/x: No such file or directory (execve)")
    #expect(ChildProcess.path(ofProgram: "lookahead-no-such-program") == nil)
  }

  @Test func `many at once do not wait for each other's pipes`() throws {
    let failures = Monitor(0)
    runConcurrently(8) { _ in
      for _ in 0..<10 {
        let outcome = try? Self.shell("/usr/bin/head -c 200000 /dev/zero")
        if outcome?.end != .exited(0) || outcome?.output.count != 200_000 {
          failures.withLock { $0 += 1 }
        }
      }
    }
    #expect(failures.withLock { $0 } == 0)
  }
}

/// What a thread sets for others.
private final class Flag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .relaxed) }
  func set() { value.store(true, ordering: .relaxed) }
}
