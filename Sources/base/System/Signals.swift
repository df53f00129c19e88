import Glibc

/// Signals as a thread waits for them, instead of handlers that run anywhere.
public enum Signals {
  /// The signals that end a server, or tell it something.
  public enum Signal: Int32, Sendable, CaseIterable {
    /// SIGTERM
    case terminate = 15
    /// SIGINT
    case interrupt = 2
    /// SIGHUP
    case hangUp = 1
  }

  /// Blocks the signals in this thread and those that it starts from now on (`pthread_sigmask(3)`):
  /// to be called first thing in the main thread.
  public static func block(_ signals: [Signal] = Signal.allCases) {
    var set = signalSet(signals)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Blocks every signal in this thread but SIGBUS, which is its own (`lookahead_map_file`): none is handled
  /// here, and above all SIGPIPE, which the kernel sends
  /// to the thread that writes to a broken pipe, stays pending.
  public static func blockAll() {
    var set = sigset_t()
    sigfillset(&set)
    sigdelset(&set, SIGBUS)
    pthread_sigmask(SIG_BLOCK, &set, nil)
  }

  /// Waits for one of them, which have to be blocked (`sigwait(3)`).
  public static func wait(for signals: [Signal] = Signal.allCases) -> Signal {
    var set = signalSet(signals)
    while true {
      var number: Int32 = 0
      if sigwait(&set, &number) == 0, let signal = Signal(rawValue: number) { return signal }
    }
  }

  /// Ignores SIGPIPE in the whole process: a write to a connection that is gone is an error of that
  /// write.
  public static func ignoreBrokenPipe() {
    signal(SIGPIPE, SIG_IGN)
  }

  /// Ends the program as a write to a broken pipe ends others: by SIGPIPE.
  public static func endByBrokenPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, SIGPIPE)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(SIGPIPE)
    exit(128 + SIGPIPE)
  }

  /// Ignores SIGXFSZ in the whole process: a write beyond the largest size that a file may have
  /// (setrlimit(2)) is an error of that write.
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
