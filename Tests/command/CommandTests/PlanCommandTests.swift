import Foundation
import TestSupport
import Testing

/// `lookahead plan`, as a user runs it.
@Suite struct PlanCommandTests {
  private static let folder = Repository.url("Fixtures/plan")

  @Test func `the vectors, from files and from standard input`() throws {
    let program = Program()
    for name in try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
    where name.hasSuffix(".in.ndjson") {
      let path = Self.folder.appendingPathComponent(name).path
      let input = try String(contentsOfFile: path, encoding: .utf8)
      let output = try String(
        contentsOfFile: path.replacing(".in.", with: ".out."), encoding: .utf8)
      let fromFile = try program.run("plan", path)
      #expect(fromFile.output == output && fromFile.status == 0, "\(name)")
      #expect(try program.run("plan", input: input).output == output, "\(name)")
    }
  }

  @Test func `a line that cannot be read stops it, and is named`() throws {
    let program = Program()
    let state = #"{"strategy":{"name":"endless"}}"#
    let outcome = try program.run("plan", input: "\(state)\n\n{\"at\":1,\"event\":\"never\"}\n")
    #expect(outcome.status == 1)
    #expect(outcome.output == "{\"at\":0,\"actions\":[]}\n")
    #expect(outcome.errors.contains("standard input:3: event: \"never\" is not one of "))
    let missing = try program.run("plan", "nothing.ndjson")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("nothing.ndjson: cannot be read"))
  }
}
