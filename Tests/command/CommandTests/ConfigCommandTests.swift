import Foundation
import TestSupport
import Testing

@testable import lookahead

@Suite struct ConfigCommandTests {
  let program = Program()

  /// The settings by name, as `config --format json` has them.
  private func settings(
    _ arguments: [String] = [], environment: [String: String] = [:]
  ) throws -> [String: [String: Any]] {
    let outcome = try program.run(
      ["config", "--format", "json"] + arguments, environment: environment)
    let document = try #require(
      try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    let list = try #require(document["settings"] as? [[String: Any]])
    return Dictionary(
      uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "?", $0) })
  }

  @Test func `every option of serve is shown, and nothing else`() throws {
    let help = try program.run("serve", "--help").output
    let options = help.matches(of: /^ +--([a-z-]+)/.anchorsMatchLineEndings())
      .map { String($0.output.1) }
    let names = Set(options).subtracting(["version", "help"])
    #expect(names.count > 40)
    #expect(Set(try settings().keys) == names)
  }

  @Test func `a value is shown with where it came from`() throws {
    let shown = try settings(
      ["--port", "1", "--no-access-log", "--backups-kept=3", "--public-url", "http://a/"],
      environment: [
        "LOOKAHEAD_PORT": "2", "LOOKAHEAD_EVENT_LOOPS": "2", "LOOKAHEAD_HOST": "",
        "LOOKAHEAD_MEDIA_ROOT": "/media", "LOOKAHEAD_LOG_LEVEL": "debug",
        "LOOKAHEAD_ALLOWED_HOST": "a.example, b.example:81",
      ])
    let cases: [(name: String, value: String, origin: String)] = [
      ("port", "1", "option"), ("access-log", "0", "option"), ("backups-kept", "3", "option"),
      ("event-loops", "2", "environment"), ("media-root", "/media", "environment"),
      ("log-level", "debug", "environment"), ("public-url", "http://a/", "option"),
      ("allowed-host", "a.example,b.example:81", "environment"), ("host", "127.0.0.1", "default"),
      ("database", program.database, "environment"), ("log-file", "<null>", "default"),
    ]
    for (name, value, origin) in cases {
      let setting = try #require(shown[name])
      #expect(
        "\(setting["value"] ?? "")" == value || setting["value"] as? Bool == (value == "1"),
        "\(name)")
      #expect(setting["origin"] as? String == origin, "\(name)")
    }
  }

  @Test func `a secret is not shown, in neither form`() throws {
    let secret = "0123456789abcdef"
    for format in ["text", "json"] {
      let outcome = try program.run(
        "config", "--format", format, environment: ["LOOKAHEAD_WRITE_TOKEN": secret])
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("write-token"))
      #expect(!outcome.output.contains(secret) && !outcome.errors.contains(secret))
    }
    let text = try program.run("config", environment: ["LOOKAHEAD_WRITE_TOKEN": secret]).output
    #expect(text.contains(/\nwrite-token +\(set\)  \[environment\]\n/))
    #expect(try program.run("config").output.contains(/\nwrite-token +\(not set\)  \[default\]\n/))
  }

  @Test(arguments: ["media-signing-key-file", "report-key-file"])
  func `keys that cannot sign are refused, and no key is shown`(option: String) throws {
    let key = String(repeating: "k", count: 32)
    let cases: [(text: String?, says: String)] = [
      (nil, "cannot be read"), (" \n\n", "has 0 keys"), ("short\n", "a key of"),
      ("\(key)\nshort", "has 5 characters; expected at least 32"),
      (Array(repeating: key, count: 9).joined(separator: "\n"), "has 9 keys; expected 1 to 8"),
    ]
    for (text, says) in cases {
      let file = program.folder.file("keys")
      if let text { try program.folder.write(text, to: "keys") }
      let outcome = try program.run("config", "--\(option)", file)
      #expect(outcome.status == 64 && outcome.errors.contains(says), "\(outcome.errors)")
      #expect(!outcome.errors.contains("short") && !outcome.errors.contains(key))
    }
    let media = program.folder.file("media")
    try FileManager.default.createDirectory(atPath: media, withIntermediateDirectories: true)
    let file = try program.folder.write("  \(key)\r\n\n\(key)2\n", to: "media/keys")
    let good = try program.run("config", "--\(option)", file)
    #expect(good.status == 0 && !good.output.contains(key), "\(good.output)")
    #expect(good.output.contains("is readable by every user of this machine: chmod o="))
    let served = try program.run(
      "config",
      environment: [
        "LOOKAHEAD_\(option.uppercased().replacing("-", with: "_"))": file,
        "LOOKAHEAD_MEDIA_ROOT": program.folder.file("media"),
      ])
    #expect(served.status == 1 && served.output.contains("the key file ("))
  }

  @Test
  func `whose reports are taken is one of three words, and needs a key where they are signed`()
    throws
  {
    for (words, says) in [
      (["--reports", "signed"], "--reports signed needs --report-key-file"),
      (["--reports", "some"], "some"), (["--no-reports"], "--no-reports"),
    ] {
      let outcome = try program.run(["config"] + words)
      #expect(outcome.status == 64 && outcome.errors.contains(says), "\(outcome.errors)")
    }
    let file = try program.folder.write(String(repeating: "k", count: 32), to: "keys")
    for (words, environment, shown) in [
      ([], [:], "on"), (["--reports", "off"], [:], "off"),
      ([], ["LOOKAHEAD_REPORTS": "signed", "LOOKAHEAD_REPORT_KEY_FILE": file], "signed"),
    ] as [([String], [String: String], String)] {
      let output = try program.run(["config"] + words, environment: environment).output
      #expect(
        output.split(separator: "\n").contains {
          $0.split(separator: " ").prefix(2) == ["reports", shown[...]]
        }, "\(output)")
    }
  }

  @Test func `what serve refuses, config refuses, in the same words`() throws {
    let arguments = ["--media-root", program.folder.path]
    let config = try program.run(["config"] + arguments)
    #expect(config.status == 1)
    let serve = try program.run(["serve", "--port", "0"] + arguments)
    #expect(serve.status == 64)
    let words = "the database (\(StartCheck.resolved(program.database))) is in --media-root"
    #expect(config.output.contains("refusal: \(words)"), "\(config.output)")
    #expect(serve.errors.contains("Error: \(words)"), "\(serve.errors)")
    #expect(!FileManager.default.fileExists(atPath: program.database))
    #expect(try program.run("config", "--port", "http").status == 64)
  }
}
