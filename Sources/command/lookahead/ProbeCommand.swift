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
    abstract:
      "Print what media files are, how many bytes start and play them, and their placeholders.",
    discussion: """
      Prints one line of JSON for each file, in the order of the arguments. Decoding the first \
      frame and making a placeholder need ffmpeg, and URLs need curl; if one of them is missing, \
      the notes of the line say what is unknown. URLs and objects in a bucket are read by ranges, \
      as few bytes as possible. A problem with a file is reported as FILE: problem, and the exit \
      status is then 1.
      """)

  @Argument(help: "Files, http and https URLs, or s3://bucket/key.")
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
        // If standard output fails, the errors of other files may still be useful on standard error.
        try? printBytes(Self.line(file, report))
      } catch {
        hasFailed = true
        printError("\(file): \(error)")
      }
    }
    if hasFailed { throw ExitCode.failure }
  }

  /// Probes an object of a bucket, with access from the environment.
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
      writer.array("notes") { writer in
        for note in report.notes { writer.string(note.description) }
      }
    }
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
