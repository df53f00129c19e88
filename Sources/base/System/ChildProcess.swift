import CLinux
import Glibc

/// Another program, run to its end within limits of time, address space and output. It inherits no file
/// except its three streams, one of which may be a file that it writes, and no environment except the given
/// one. It has a process group of its own, and sockets only if they are allowed. No shell is involved.
///
/// Theory of operation. The calling thread starts the child (`Child.h`) and stays with it: it reads both
/// pipes until the child has ended, and kills the child when a limit is reached. The child is also killed
/// when this thread or process ends.
///
/// swift-subprocess is not used: it does `import System` if a module of that name can be imported, takes this
/// module for Apple's, and so does not build beside it. It also sets no limits.
public struct ChildProcess: Sendable {
  /// The limits of a child. The caller must check the child's arguments if users choose them.
  public struct Limits: Sendable, Hashable {
    /// The maximum time from its start to its end, without the time in which it waits for a processor; also
    /// the maximum processor time (`RLIMIT_CPU`).
    public var timeMilliseconds: Int
    /// The maximum size of its address space (`RLIMIT_AS`).
    public var memoryBytes: Int
    /// The maximum size of its standard output; the child is killed when it writes more (`RLIMIT_FSIZE` if
    /// that is a file: by SIGXFSZ).
    public var outputBytes: Int
    /// The number of bytes of its standard error that are kept; the rest is discarded.
    public var errorBytes = 16 << 10
    /// The maximum size of each file that it writes besides its output; 0 for a program that writes none.
    public var fileBytes = 0
    /// The minimum nice value (`setpriority(2)`). At 19 it has a processor only while no other process wants
    /// it (`SCHED_IDLE`).
    public var nice = 0
    /// The maximum number of open files.
    public var openFiles = 64

    /// Limits with these values.
    public init(timeMilliseconds: Int, memoryBytes: Int, outputBytes: Int) {
      self.timeMilliseconds = timeMilliseconds
      self.memoryBytes = memoryBytes
      self.outputBytes = outputBytes
    }
  }

  /// How a child ended.
  public enum End: Sendable, Hashable {
    /// It exited with this status.
    case exited(Int32)
    /// A signal ended it that this process did not send, for example when memory ran out.
    case signalled(Int32)
    /// It was killed at its time limit.
    case timedOut
    /// It was killed because it wrote too much.
    case wroteTooMuch
    /// It was killed because it was cancelled.
    case cancelled
  }

  /// The outcome of a run.
  public struct Outcome: Sendable {
    /// How the child ended.
    public let end: End
    /// The bytes that it wrote to standard output, up to the limit.
    public let output: [UInt8]
    /// The first bytes that it wrote to standard error.
    public let errors: [UInt8]
    /// Its peak memory.
    public let peakMemoryBytes: Int
    /// The processor time that it used.
    public let processorMilliseconds: Int
  }

  /// The program's path.
  public let path: String
  /// The arguments, without the program's name.
  public let arguments: [String]
  /// The environment, as `NAME=value`.
  public let environment: [String]
  /// The limits of the child.
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

  /// The path of the program with this name in the folders of `PATH`; nil if there is none.
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

  /// Runs the program to its end.
  ///
  /// - Parameters:
  ///   - input: its standard input, `/dev/null` by default. The child reads it from the file's beginning if
  ///     it opens it as `/dev/fd/0`.
  ///   - file: its standard output, in place of the output that is kept. The child overwrites it if it opens
  ///     it as `/dev/fd/1`.
  ///   - cancellation: the token that cancels the run.
  /// - Throws: `SystemError` if the program cannot be started.
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
    // Closes the child's ends here, so that the pipes end with the child.
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

/// A pipe that closes its ends automatically.
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
