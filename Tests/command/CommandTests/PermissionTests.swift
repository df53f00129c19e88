import Foundation
import Glibc
import TestSupport
import Testing

/// Files that the program's user may not write.
@Suite struct PermissionTests {
  let program = Program()

  /// Runs the program as somebody whom modes bind: root they do not.
  private func run(_ arguments: [String]) throws -> Program.Outcome {
    guard geteuid() == 0 else { return try program.run(arguments) }
    let process = program.process([])
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
    process.arguments =
      ["--reuid", "65534", "--regid", "65534", "--clear-groups", Program.url.path] + arguments
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    try process.run()
    // Both are short.
    let texts = [output, errors].map {
      String(decoding: $0.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }
    process.waitUntilExit()
    return Program.Outcome(
      status: process.terminationStatus, output: texts[0], errors: texts[1])
  }

  @Test func `a start on a read-only file leaves nothing read-only behind`() throws {
    #expect(chmod(program.folder.path, 0o777) == 0)
    let seeded = try run(["seed", "--generate", "10"])
    #expect(seeded.status == 0, "\(seeded.errors)")
    #expect(chmod(program.database, 0o444) == 0)
    for command in [["check"], ["seed", "--generate", "20"], ["export"]] {
      let refused = try run(command)
      #expect(refused.status == 1)
      #expect(refused.errors.contains("feed.sqlite: Permission denied"), "\(refused.errors)")
    }
    #expect(access(program.database + "-shm", F_OK) != 0)
    #expect(chmod(program.database, 0o644) == 0)
    let checked = try run(["check"])
    #expect(checked.status == 0, "\(checked.errors)")

    // What an earlier version left, is named itself.
    try program.folder.write("", to: "feed.sqlite-shm")
    #expect(chmod(program.database + "-shm", 0o444) == 0)
    let refused = try run(["check"])
    #expect(refused.status == 1)
    #expect(refused.errors.contains("feed.sqlite-shm"), "\(refused.errors)")
  }
}
