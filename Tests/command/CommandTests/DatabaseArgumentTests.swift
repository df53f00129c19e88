import Foundation
import TestSupport
import Testing

/// What a person may give for a database, and what then must not be shown.
@Suite struct DatabaseArgumentTests {
  let program = Program()

  @Test(
    arguments: TestRandom.some(
      2,
      of: [
        "user=la password=SECRET", " postgres://la:SECRET@h/d x", "Postgres://la:SECRET@h/d",
        "la:SECRET@h/d", "jdbc:postgresql://h/d?password=SECRET",
      ]))
  func `what looks like an address and is none is refused without being shown`(_ text: String)
    throws
  {
    _ = try program.run("seed", "--generate", "2")
    // The first is an address that libpq understands.
    let isUnderstood = text.hasPrefix("user=")
    var commands = [
      ["backup", text], ["restore", text, "--overwrite"], ["restore", "x", "--database", text],
      ["config", "--standby-database", text],
    ]
    if !isUnderstood {
      commands += [
        ["seed", "--database", text, "--generate", "1"], ["serve", "--database", text],
        ["copy", text, "to.sqlite"], ["copy", program.database, text],
        ["config", "--database", text],
        ["export", "--database", text],
      ]
    }
    for command in commands {
      let outcome = try program.run(command)
      #expect(outcome.status != 0, "\(command)")
      #expect(
        !(outcome.output + outcome.errors).contains("SECRET"), "\(command): \(outcome.errors)")
    }
    let byEnvironment = try program.run(
      "restore", "x", environment: ["LOOKAHEAD_DATABASE": text])
    #expect(byEnvironment.status != 0)
    #expect(!byEnvironment.errors.contains("SECRET"))
    let names = try FileManager.default.contentsOfDirectory(atPath: program.folder.path)
    #expect(!names.contains { $0.contains("SECRET") })
  }
}
