import Foundation
import Synchronization
import TestSupport

/// The program as a user runs it: a process with arguments, an environment, two streams and a status.
struct Program {
  struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    /// Without those that say how far a run has come: they come where it takes five seconds or more.
    var errorLines: [String] {
      errors.split(separator: "\n").filter { !$0.contains(/^\d.*, \d+\.\d s$/) }.map(String.init)
    }
  }

  let folder = TemporaryFolder()

  var database: String { folder.file("feed.sqlite") }

  /// What `LOOKAHEAD_PROGRAM` names, as in `script/test`; else it stands beside the bundle of
  /// the tests.
  static let url: URL = {
    if let path = ProcessInfo.processInfo.environment["LOOKAHEAD_PROGRAM"] {
      return URL(fileURLWithPath: path)
    }
    var folder = Bundle.main.bundleURL
    while folder.path != "/" {
      let candidate = folder.appendingPathComponent("lookahead")
      if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
      folder.deleteLastPathComponent()
    }
    fatalError("the program was not built beside its tests")
  }()

  /// A process that is not started yet, in the program's own folder.
  func process(_ arguments: [String], environment: [String: String] = [:]) -> Process {
    let process = Process()
    process.executableURL = Self.url
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.environment = environment.merging(
      ["LOOKAHEAD_DATABASE": database, "PATH": "/usr/bin:/bin"]) { given, _ in given }
    return process
  }

  /// Runs it to its end.
  func run(_ arguments: String..., input: String? = nil, environment: [String: String] = [:]) throws
    -> Outcome
  {
    try run(arguments, input: input, environment: environment)
  }

  /// Runs it to its end.
  func run(_ arguments: [String], input: String? = nil, environment: [String: String] = [:]) throws
    -> Outcome
  {
    let process = process(arguments, environment: environment)
    // Files and not pipes: nothing waits for anybody to read.
    let name = UUID().uuidString
    let output = try folder.write("", to: name + ".out")
    let errors = try folder.write("", to: name + ".err")
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle(forWritingAtPath: errors)
    let standardInput = try folder.write(input ?? "", to: name + ".in")
    process.standardInput = FileHandle(forReadingAtPath: standardInput)
    try process.run()
    process.waitUntilExit()
    func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    return Outcome(
      status: process.terminationStatus, output: try text(output), errors: try text(errors))
  }
}

/// The program serving, ended with the value.
final class ServingProgram {
  let process: Process
  let port: UInt16

  init(_ program: Program, _ arguments: [String] = [], environment: [String: String] = [:]) throws {
    process = program.process(
      ["serve", "--port", "0", "--log-level", "error"] + arguments, environment: environment)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = line.split(separator: ":").last.flatMap({ UInt16($0.prefix { $0.isNumber }) })
    else { throw TestClientError(message: "the program said \"\(line)\"") }
    self.port = port
  }

  deinit {
    if process.isRunning { process.terminate() }
    process.waitUntilExit()
  }

  /// Sends SIGTERM and gives the exit status.
  func terminate() -> Int32 {
    process.terminate()
    process.waitUntilExit()
    return process.terminationStatus
  }
}
