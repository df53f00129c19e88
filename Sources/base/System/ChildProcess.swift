import CLinux
import Glibc

/// Another program, run to its end within limits of time, address space and output. It has no file
/// of ours but its three streams, one of which may be a file that it writes, no environment but what it is
/// given, a process group of its own, and no sockets unless it is to have them. No shell is asked.
///
/// Theory of operation. The calling thread starts the child (`Child.h`) and stays with it: it takes what
/// comes from both pipes until the child has ended, or kills it when a limit is reached. The child is killed,
/// too, when this thread or process ends.
///
/// swift-subprocess is not used: it does `import System` where a module of that name can be imported, takes
/// this module for Apple's, and so does not build beside it; and it sets no limits.
public struct ChildProcess: Sendable {
  /// What a child may use. The caller checks its arguments if users choose them.
  public struct Limits: Sendable, Hashable {
    /// From its start to its end, without the time in which it waits for a processor; and in processor time
    /// (`RLIMIT_CPU`).
    public var timeMilliseconds: Int
    /// Its address space (`RLIMIT_AS`).
    public var memoryBytes: Int
    /// What it may write to standard output; it is ended when it writes more (`RLIMIT_FSIZE` where that is a
    /// file: by SIGXFSZ).
    public var outputBytes: Int
    /// What is kept of what it writes to standard error; the rest is thrown away.
    public var errorBytes = 16 << 10
    /// How large any file may become that it writes, beside its output; 0 for a program that writes none.
    public var fileBytes = 0
    /// How nice it is at the least (`setpriority(2)`). At 19 it has a processor only while no other process wants it
    /// (`SCHED_IDLE`).
    public var nice = 0
    /// How many files it may have open.
    public var openFiles = 64

    /// These limits.
    public init(timeMilliseconds: Int, memoryBytes: Int, outputBytes: Int) {
      self.timeMilliseconds = timeMilliseconds
      self.memoryBytes = memoryBytes
      self.outputBytes = outputBytes
    }
  }

  /// How it ended.
  public enum End: Sendable, Hashable {
    /// By itself, with this status.
    case exited(Int32)
    /// By a signal that was not ours, for example out of memory.
    case signalled(Int32)
    /// Killed: its time was over.
    case timedOut
    /// Killed: it wrote more than it may.
    case wroteTooMuch
    /// Killed: it was given up.
    case cancelled
  }

  /// What came of it.
  public struct Outcome: Sendable {
    /// How it ended.
    public let end: End
    /// What it wrote to standard output, as much as it may write at the most.
    public let output: [UInt8]
    /// The beginning of what it wrote to standard error.
    public let errors: [UInt8]
    /// The most memory that it had at one time.
    public let peakMemoryBytes: Int
    /// The processor time that it took.
    public let processorMilliseconds: Int
  }

  /// The program's path.
  public let path: String
  /// What it is told, without its own name.
  public let arguments: [String]
  /// `NAME=value`
  public let environment: [String]
  /// What it may use.
  public let limits: Limits
  /// Whether it may open sockets.
  public let hasNetwork: Bool

  /// A program that is not started yet.
  public init(
    path: String, arguments: [String], environment: [String] = [], limits: Limits,
    hasNetwork: Bool = false
  ) {
    self.path = path
    self.arguments = arguments
    self.environment = environment
    self.limits = limits
    self.hasNetwork = hasNetwork
  }

  /// The path of the program of this name in the folders of `PATH`; nil if there is none.
  public static func path(ofProgram name: String) -> String? {
    let folders = getenv("PATH").map { String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
    return folders.split(separator: ":").lazy.filter { $0.hasPrefix("/") }
      .map { "\($0)/\(name)" }
      .first { path in
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
          && access(path, X_OK) == 0
      }
  }

  /// Runs it to its end.
  ///
  /// - Parameters:
  ///   - input: its standard input; opened as `/dev/fd/0`, it is read from the file's beginning. `/dev/null`
  ///     where there is nothing.
  ///   - file: its standard output, in place of what is kept of that; opened as `/dev/fd/1`, it is written
  ///     anew.
  ///   - cancellation: by which it can be given up.
  /// - Throws: `SystemError` where it cannot be started.
  public func run(
    input: OpenFile? = nil, output file: Descriptor? = nil, cancellation: Cancellation? = nil
  ) throws(SystemError) -> Outcome {
    let nothing = input == nil ? try Descriptor("/dev/null") : nil
    let output = try Pipe()
    let errors = try Pipe()
    let process = try start(
      input: input?.descriptor ?? nothing?.number ?? -1,
      file?.number ?? output.writing?.number ?? -1, errors.writing?.number ?? -1,
      fileBytes: file == nil ? limits.fileBytes : max(limits.fileBytes, limits.outputBytes))
    var watch = ChildWatch(process, limits, output.reading, errors.reading, cancellation)
    // What the child has open is closed here, so that the pipes end with it.
    output.closeWriting()
    errors.closeWriting()
    return try watch.untilEnd()
  }

  private func start(
    input: Int32, _ output: Int32, _ errors: Int32, fileBytes: Int
  ) throws(SystemError) -> pid_t {
    var texts = ([path] + arguments).map { strdup($0) }
    var variables = environment.map { strdup($0) }
    defer { for text in texts + variables { free(text) } }
    texts.append(nil)
    variables.append(nil)
    var process = pid_t()
    let failure = path.withCString { path in
      texts.withUnsafeBufferPointer { arguments in
        variables.withUnsafeBufferPointer { environment in
          var child = lookahead_child(
            path: path, arguments: arguments.baseAddress, environment: environment.baseAddress,
            input: input, output: output, errors: errors,
            memory_bytes: UInt64(limits.memoryBytes),
            processor_seconds: UInt64(limits.timeMilliseconds / 1000 + 1),
            has_network: hasNetwork ? 1 : 0, file_bytes: UInt64(fileBytes),
            open_files: UInt64(limits.openFiles), nice: Int32(clamping: limits.nice))
          return lookahead_start_child(&child, &process)
        }
      }
    }
    guard failure == 0 else {
      throw SystemError(call: "execve", purpose: "run \(path)", code: failure)
    }
    return process
  }
}

/// A pipe whose ends close on their own.
private final class Pipe {
  let reading: Descriptor
  private(set) var writing: Descriptor?

  init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    try retrying("pipe2", "make a pipe") { pipe2(&ends, O_CLOEXEC) }
    reading = Descriptor(taking: ends[0], path: "a pipe")
    writing = Descriptor(taking: ends[1], path: "a pipe")
  }

  func closeWriting() { writing = nil }
}
