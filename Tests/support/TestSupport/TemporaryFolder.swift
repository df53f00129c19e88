import Foundation

/// A folder of its own, gone with the value.
package final class TemporaryFolder: Sendable {
  package let path: String

  package init() {
    path = NSTemporaryDirectory() + "lookahead-test-" + UUID().uuidString
    try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in it.
  package func file(_ name: String) -> String { path + "/" + name }

  /// Writes a file in it and returns its path.
  @discardableResult
  package func write(_ text: String, to name: String) throws -> String {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
    return file(name)
  }

  /// Writes a program in it, a script of the shell, and returns its path.
  ///
  /// Another program makes the file: had this process it open, a child that it starts just then would have it, too, and
  /// what somebody writes cannot be run (`ETXTBSY`, execve(2)).
  package func writeProgram(_ script: String, to name: String) throws -> String {
    let text = try write("#!/bin/sh\n" + script, to: name + ".text")
    let install = Process()
    install.executableURL = URL(fileURLWithPath: "/usr/bin/install")
    install.arguments = ["-m", "755", text, file(name)]
    try install.run()
    install.waitUntilExit()
    return file(name)
  }
}
