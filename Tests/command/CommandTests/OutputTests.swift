import Foundation
import Glibc
import TestSupport
import Testing

/// Standard output and standard error that take nothing: a full disk, a closed descriptor, nobody who reads.
@Suite struct OutputTests {
  let program = Program()

  /// Makes descriptor 4 of a shell a pipe that nobody reads.
  private static let brokenPipe = "mkfifo pipe; exec 3<>pipe 4>pipe 3>&-; rm pipe; "

  /// Runs the program by a shell that redirects its streams.
  ///
  /// - Returns: its status, and what it wrote to standard error where that is not redirected.
  private func run(_ arguments: String..., redirected: String) throws -> (
    status: Int32, errors: String
  ) {
    let process = program.process(
      ["-c", Self.brokenPipe + "\"$0\" \"$@\" \(redirected)", Program.url.path] + arguments,
      environment: ["SWIFT_BACKTRACE": "enable=no"])
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    let errors = try program.folder.write("", to: UUID().uuidString)
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle(forWritingAtPath: errors)
    try process.run()
    process.waitUntilExit()
    return (process.terminationStatus, try String(contentsOfFile: errors, encoding: .utf8))
  }

  @Test(arguments: [">/dev/full", ">&-"])
  func `every kind of command says that its standard output took nothing`(
    _ redirected: String
  ) throws {
    #expect(try program.run("seed", "--generate", "10").status == 0)
    let reason = redirected == ">&-" ? "Bad file descriptor" : "No space left on device"
    let state = try program.folder.write(#"{"strategy":{"name":"endless"}}"#, to: "state")
    let commands = [
      ["config"], ["config", "--format", "json"], ["migrate", "status"], ["migrate", "up"],
      ["check"],
      ["prune", "--kept-rankings", "1", "--dry-run"], ["export"], ["vacuum"],
      ["seed", "--generate", "10"],
      ["backup", "b.sqlite", "--overwrite"], ["--help"], ["--version"], ["plan", state],
      ["lab", "run", "--repeats", "1", "--items", "5"],
    ]
    for command in commands {
      let process = try run(arguments: command, redirected)
      #expect(process.status == 1, "\(command): \(process.errors)")
      #expect(
        process.errors.contains("cannot write standard output: \(reason)\n"),
        "\(command): \(process.errors)")
      #expect(process.errors.components(separatedBy: "standard output").count == 2)
    }
  }

  private func run(arguments: [String], _ redirected: String) throws -> (
    status: Int32, errors: String
  ) {
    let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
    return try run(redirected: "\(quoted) \(redirected)")
  }

  @Test(arguments: [["config"], ["export"], ["check"], ["--help"]])
  func `a broken pipe ends a command quietly`(_ arguments: [String]) throws {
    #expect(try program.run("seed", "--generate", "10").status == 0)
    // The reader is gone before the program begins.
    let quoted = arguments.joined(separator: " ")
    let outcome = try run(
      redirected: "--version; \"$0\" \(quoted) >&4")
    #expect(outcome.status == 128 + SIGPIPE)
    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
  }

  @Test func `plan says that a folder cannot be read`() throws {
    let outcome = try program.run("plan", ".")
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains(".: cannot be read: Is a directory"), "\(outcome.errors)")
  }

  @Test(arguments: [">/dev/full 2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-", ">&4 2>&4"])
  func `a server starts and drains whatever becomes of its output`(_ redirected: String) throws {
    let process = program.process(
      [
        "-c",
        Self.brokenPipe + "exec \"$0\" serve --port 0 --log-level trace \(redirected)",
        Program.url.path,
      ])
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    try process.run()
    // Signals are blocked before the database is opened: from then on SIGTERM is a request to drain.
    while process.isRunning, !FileManager.default.fileExists(atPath: program.database) {
      usleep(10_000)
    }
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(process.terminationReason == .exit)
    #expect(try program.run("check").status == 0)
  }
}
