import ArgumentParser
import Foundation
import JSON
import MediaFiles
import MediaIndex
import MediaProbe
import ObjectStorage
import PostJSON

struct ProbeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "probe",
    abstract: "Tell what media files are, how many bytes start and play them, and how they look.",
    discussion: """
      Writes a line of JSON for each, in the order of the arguments. What is known needs no program but \
      this one; that a file's first frame decodes, and its placeholder, take ffmpeg, and URLs take curl: \
      where one is missing, the line's notes say what is then not known. A URL is read by ranges, as \
      little of it as that takes, and so is an object of a bucket. What is wrong with a file is reported as FILE: what is wrong, and \
      the exit status is then 1.
      """)

  @Argument(help: "Files, http and https URLs, and s3://bucket/key.")
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
        let report =
          if ObjectAddress.isOne(file) {
            try Self.probe(object: file, probe)
          } else if file.firstRange(of: "://") != nil {
            try probe.probe(url: file)
          } else {
            try probe.probe(file: file)
          }
        // A file beside it may still be useful to a reader of standard error.
        try? printBytes(Self.line(file, report))
      } catch {
        hasFailed = true
        printError("\(file): \(error)")
      }
    }
    if hasFailed { throw ExitCode.failure }
  }

  /// What is known of an object of a bucket, whose store the environment names.
  private static func probe(
    object text: String, _ probe: MediaProbe
  ) throws(ProbeError) -> ProbeReport {
    do {
      let name = text.dropFirst(ObjectAddress.scheme.count)
      let slash = name.firstIndex(of: "/") ?? name.endIndex
      let storage = try MediaStorage.open(
        String(text[..<slash]), environment: ProcessInfo.processInfo.environment)
      guard let bucket = storage.bucket else { throw MediaError.notFound(.noSuchFile) }
      let segments = text[slash...].utf8.dropFirst()
        .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        .map { String(Substring($0)) }
      return try ObjectProbe(bucket, probe).report(of: segments)
    } catch let error as ProbeError {
      throw error
    } catch {
      throw .remote(.failed("\(error)"))
    }
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
