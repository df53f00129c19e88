import ArgumentParser
import Foundation
import JSON
import MediaProbe
import PostJSON

struct ProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Tell what media files are, how many bytes start and play them, and how they look.",
    discussion: """
      Writes a line of JSON for each, in the order of the arguments. What is known needs no program but \
      this one; that a file's first frame decodes, and its placeholder, take ffmpeg, and URLs take curl: \
      where one is missing, the line's notes say what is then not known. A URL is read by ranges, as \
      little of it as that takes. What is wrong with a file is reported as FILE: what is wrong, and \
      the exit status is then 1.
      """)

  @Argument(help: "Files, and http and https URLs.")
  var files: [String]

  @OptionGroup var options: ProbeOptions

  mutating func validate() throws {
    try Setting.validate(self)
    _ = try options.hostPatterns
  }

  func run() throws {
    let probe = MediaProbe(settings: try options.settings())
    var hasFailed = false
    for file in files {
      do throws(ProbeError) {
        let isURL = file.firstRange(of: "://") != nil
        let report = try isURL ? probe.probe(url: file) : probe.probe(file: file)
        // A file beside it may still be useful to a reader of standard error.
        try? printBytes(Self.line(file, report))
      } catch {
        hasFailed = true
        printError("\(file): \(error)")
      }
    }
    if hasFailed { throw ExitCode.failure }
  }

  private static func line(_ file: String, _ report: ProbeReport) -> [UInt8] {
    var writer = JSONWriter(capacity: 1024)
    writer.object { writer in
      writer.member("file", file)
      writer.members(of: report.truth)
      guard !report.notes.isEmpty else { return }
      writer.key("notes")
      writer.array { writer in for note in report.notes { writer.string(note.description) } }
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
