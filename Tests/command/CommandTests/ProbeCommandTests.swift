import Foundation
import TestSupport
import Testing

/// `lookahead probe`, as a user runs it.
@Suite struct ProbeCommandTests {
  private static func object(_ line: some StringProtocol) throws -> [String: Any] {
    let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
    return try #require(value as? [String: Any])
  }

  /// A picture of 2 × 1 pixels, which needs nothing to make it: BMP, upside down as it always is.
  private static let bitmap: [UInt8] =
    Array("BM".utf8) + [62, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]
    + [1, 0, 24, 0] + [UInt8](repeating: 0, count: 24) + [0, 0, 255, 255, 0, 0, 0, 0]

  private static func write(_ bytes: [UInt8], _ program: Program, _ name: String) throws -> String {
    try Data(bytes).write(to: URL(fileURLWithPath: program.folder.file(name)))
    return program.folder.file(name)
  }

  @Test func `a line for each file, in their order, and a word for each that is broken`() throws {
    let program = Program()
    let sound = try Self.write(Self.bitmap, program, "sound.jpg")
    let broken = try program.folder.write("<html>", to: "broken\u{1b}.gif")
    let outcome = try program.run("probe", sound, broken, "missing.png", "./sound.jpg")
    #expect(outcome.status == 1)
    let lines = outcome.output.split(separator: "\n")
    #expect(lines.count == 2)
    let object = try Self.object(lines[0])
    #expect(object["file"] as? String == sound)
    #expect(object["mimeType"] as? String == "image/bmp" && object["kind"] as? String == "image")
    #expect(object["width"] as? Int == 2 && object["height"] as? Int == 1)
    #expect(object["bytes"] as? Int == 62)
    let placeholder = try #require(object["placeholder"] as? [String: Any])
    #expect(placeholder["color"] as? String == "#800080")
    #expect((object["version"] as? String)?.hasPrefix("sha256:") == true)
    #expect(object["notes"] == nil)
    #expect(try Self.object(lines[1])["file"] as? String == "./sound.jpg")
    #expect(
      outcome.errorLines == [
        program.folder.file("broken\\u001b.gif") + ": not a known image, video or sound format",
        "missing.png: No such file or directory",
      ])
    #expect(try program.run("probe", sound).status == 0)
  }

  @Test func `without ffmpeg the line says what is not known`() throws {
    let program = Program()
    let path = try Self.write(Self.bitmap, program, "picture")
    let outcome = try program.run("probe", path, environment: ["PATH": program.folder.path])
    #expect(outcome.status == 0)
    let object = try Self.object(outcome.output)
    #expect(object["placeholder"] == nil && object["width"] as? Int == 2)
    #expect(
      object["notes"] as? [String] == [
        "ffmpeg is not installed: the first frame was not decoded, and there is no placeholder"
      ])
  }

  @Test func `a URL of a server is probed where that is allowed`() throws {
    let program = Program()
    try FileManager.default.createDirectory(
      atPath: program.folder.file("media"), withIntermediateDirectories: true)
    _ = try Self.write(Self.bitmap, program, "media/a.bmp")
    _ = try program.run("migrate", "up")
    let server = try ServingProgram(program, ["--media-root", program.folder.file("media")])
    let url = "http://127.0.0.1:\(server.port)/media/a.bmp"
    let refused = try program.run("probe", url)
    #expect(refused.status == 1 && refused.output.isEmpty)
    #expect(refused.errors.contains("--allow-host 127.0.0.1 allows it"))
    let other = try program.run(
      "probe", "--probe-timeout-milliseconds", "600000", "--allow-host", "127.0.0.1", url)
    #expect(other.errors.contains("--allow-private-addresses allows it"))
    let arguments = ["probe", "--allow-private-addresses", url]
    let allowed = try program.run(
      arguments, environment: ["LOOKAHEAD_ALLOW_HOST": "example.org,127.0.0.1"])
    #expect(allowed.status == 0, "\(allowed.errors)")
    let object = try Self.object(allowed.output)
    #expect(object["bytes"] as? Int == 62 && object["placeholder"] != nil)
  }

  @Test(arguments: [
    ["probe"], ["probe", "--allow-host", "a/b", "x"], ["probe", "--probe-url-bytes", "1", "x"],
    ["probe", "--probe-memory-bytes", "x", "y"],
  ])
  func `what is no argument is refused`(arguments: [String]) throws {
    let outcome = try Program().run(arguments)
    #expect(outcome.status == 64 && outcome.output.isEmpty)
  }
}
