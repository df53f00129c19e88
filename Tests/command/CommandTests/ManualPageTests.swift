import Foundation
import TestSupport
import Testing

@Suite struct ManualPageTests {
  private static let script = Repository.url("script/man")

  @Test func `every command and option of the program is in its manual page`() throws {
    let program = Program()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", Self.script.path, Program.url.path]
    // Which is not to change the defaults that the page tells.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["LOOKAHEAD_PORT": "9"]) { _, new in new }
    let path = try program.folder.write("", to: "lookahead.1")
    process.standardOutput = FileHandle(forWritingAtPath: path)
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    let page = try String(contentsOfFile: path, encoding: .utf8)
    #expect(page.hasPrefix(".TH LOOKAHEAD 1 "))

    let commands = try program.run("--help").output
      .matches(of: /^  ([a-z]+) +[A-Z]/.anchorsMatchLineEndings()).map { String($0.output.1) }
    #expect(commands.contains("serve") && commands.contains("backup"))
    for command in commands where !["migrate", "media", "lab", "experiment"].contains(command) {
      #expect(page.contains("\n.SS \(command)\n"), "\(command)")
    }
    #expect(page.contains("\n.SS migrate up\n") && page.contains("\n.SS media add\n"))
    let options = try program.run("serve", "--help").output
      .matches(of: /^ +--([a-z-]+)/.anchorsMatchLineEndings()).map { String($0.output.1) }
    for option in options where option != "version" {
      let name = option.replacingOccurrences(of: "-", with: "\\-")
      #expect(page.contains("\\fB\\-\\-\(name)\\fR"), "\(option)")
    }
    #expect(page.contains("Default: 8080."))
  }
}
