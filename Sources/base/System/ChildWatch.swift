import CLinux
import Glibc

/// Watches a child until it has ended, and enforces its limits.
struct ChildWatch {
  private let process: pid_t
  private let limits: ChildProcess.Limits
  private let startMilliseconds = MonotonicClock.milliseconds
  /// Nil after its end.
  private var outputPipe: Descriptor?
  private var errorPipe: Descriptor?
  private var output: [UInt8] = []
  private var errors: [UInt8] = []
  private let cancellation: Cancellation?
  private var killed: ChildProcess.End?

  private static let pieceBytes = 1 << 16
  /// The interval of checks for cancellation.
  private static let cancellationMilliseconds: UInt64 = 50

  /// The time after which a child is checked again that waits for a processor at its deadline.
  private static let waitMilliseconds: UInt64 = 100

  init(
    _ process: pid_t, _ limits: ChildProcess.Limits, _ output: Descriptor, _ errors: Descriptor,
    _ cancellation: Cancellation?
  ) {
    self.cancellation = cancellation
    self.process = process
    self.limits = limits
    (outputPipe, errorPipe) = (output, errors)
  }

  mutating func untilEnd() throws(SystemError) -> ChildProcess.Outcome {
    let number = lookahead_process_descriptor(process)
    guard number >= 0 else {
      let failure = SystemError(call: "pidfd_open", purpose: "watch process \(process)")
      kill(-process, SIGKILL)
      _ = reap()
      throw failure
    }
    let ending = Descriptor(taking: number, path: "process \(process)")
    var hasEnded = false
    var deadlineMilliseconds = startMilliseconds + UInt64(limits.timeMilliseconds)
    while !hasEnded {
      var polled = [ending, outputPipe, errorPipe].map {
        pollfd(fd: $0?.number ?? -1, events: Int16(POLLIN), revents: 0)
      }
      let now = MonotonicClock.milliseconds
      if now >= deadlineMilliseconds, killed == nil {
        // A child does not pay for others that keep the machine busy. The order matters: a wait is counted
        // only once it has ended. A child that has run for longer than its limit is over it, wait or not.
        let ranMilliseconds = ProcessorTime.ranMilliseconds(ofProcess: process)
        if ranMilliseconds < UInt64(limits.timeMilliseconds),
          ProcessorTime.isWaiting(process: process)
        {
          deadlineMilliseconds = now + Self.waitMilliseconds
        } else {
          deadlineMilliseconds =
            startMilliseconds + UInt64(limits.timeMilliseconds)
            + ProcessorTime.waitingMilliseconds(ofProcess: process)
          if now >= deadlineMilliseconds { end(.timedOut) }
        }
      }
      if cancellation?.isCancelled == true { end(.cancelled) }
      let wait = min(
        deadlineMilliseconds &- now,
        cancellation == nil ? .max : Self.cancellationMilliseconds)
      let timeout = killed == nil ? Int32(clamping: wait) : -1
      // An interrupted wait is another turn.
      _ = poll(&polled, nfds_t(polled.count), timeout)
      // By then the pipes hold all that the child wrote. Processes that it started end with it.
      hasEnded = polled[0].revents != 0
      if hasEnded { kill(-process, SIGKILL) }
      repeat {
        if polled[1].revents != 0 { takeOutput() }
        if polled[2].revents != 0 { takeErrors() }
        guard hasEnded else { break }
        // Reads what is there, without waiting for other processes that it started.
        for index in 1...2 { polled[index].revents = 0 }
        polled[1].fd = outputPipe?.number ?? -1
        polled[2].fd = errorPipe?.number ?? -1
        _ = poll(&polled[1], 2, 0)
      } while polled[1].revents != 0 || polled[2].revents != 0
    }
    let (status, usage) = reap()
    let signal = status & 0x7f
    let end = killed ?? (signal == 0 ? .exited(status >> 8 & 0xff) : .signalled(signal))
    return .init(
      end: end, output: output, errors: errors, peakMemoryBytes: usage.ru_maxrss * 1_024,
      processorMilliseconds: usage.ru_utime.milliseconds + usage.ru_stime.milliseconds)
  }

  private mutating func end(_ reason: ChildProcess.End) {
    guard killed == nil else { return }
    killed = reason
    kill(-process, SIGKILL)
  }

  private mutating func takeOutput() {
    let room = limits.outputBytes - output.count
    let piece = (try? outputPipe?.readNext(atMost: min(Self.pieceBytes, room + 1))) ?? []
    if piece.isEmpty { outputPipe = nil }
    output += piece.prefix(room)
    if piece.count > room {
      outputPipe = nil
      end(.wroteTooMuch)
    }
  }

  private mutating func takeErrors() {
    let piece = (try? errorPipe?.readNext(atMost: Self.pieceBytes)) ?? []
    if piece.isEmpty { errorPipe = nil }
    errors += piece.prefix(limits.errorBytes - errors.count)
  }

  /// The status as `wait4(2)` returns it, and the resources that the child used.
  private func reap() -> (status: Int32, usage: rusage) {
    var status: Int32 = 0
    var usage = rusage()
    while wait4(process, &status, 0, &usage) < 0, errno == EINTR {}
    return (status, usage)
  }
}

extension timeval {
  fileprivate var milliseconds: Int { tv_sec * 1_000 + Int(tv_usec) / 1_000 }
}
