import Glibc

/// Signals that a thread waits for, instead of handlers that run anywhere.
public enum Signals {
  /// The signals that end a server or notify it.
  public enum Signal: Int32, Sendable, CaseIterable {
    /// SIGTERM
    case terminate = 15
    /// SIGINT
    case interrupt = 2
    /// SIGHUP
    case hangUp = 1
  }

  /// Blocks the signals in this thread and in those that it starts from now on (`pthread_sigmask(3)`). Call
  /// it first in the main thread.
  public static func block(_ signals: [Signal] = Signal.allCases) {
    var set = signalSet(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Blocks every signal in this thread except SIGBUS, which its own accesses cause (`lookahead_map_file`).
  /// The thread handles no signals; above all, SIGPIPE stays pending, which the kernel sends to the thread
  /// that writes to a broken pipe.
  public static func blockAll() {
    var set = sigset_t()
    sigfillset(&set)
    sigdelset(&set, SIGBUS)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for one of the signals, which must be blocked (`sigwait(3)`).
  public static func wait(for signals: [Signal] = Signal.allCases) -> Signal {
    var set = signalSet(signals)
    while true {
      var number: Int32 = 0
      if sigwait(&set, &number) == 0, let signal = Signal(rawValue: number) { return signal }
    }
  }

  /// Ignores SIGPIPE in the whole process: a write to a closed connection is then an error of that write.
  public static func ignoreBrokenPipe() {
    signal(SIGPIPE, SIG_IGN)
  }

  /// Ends the program by SIGPIPE, as a write to a broken pipe ends other programs.
  public static func endByBrokenPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(SIGPIPE)
    exit(128 + SIGPIPE)
  }

  /// Ignores SIGXFSZ in the whole process: a write beyond the maximum size of a file (setrlimit(2)) is then
  /// an error of that write.
  public static func ignoreFileSizeLimit() {
    signal(SIGXFSZ, SIG_IGN)
  }

  private static func signalSet(_ signals: [Signal]) -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in signals { sigaddset(&set, signal.rawValue) }
    return set
  }
}
