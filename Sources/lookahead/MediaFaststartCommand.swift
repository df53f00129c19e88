import ArgumentParser
import MediaProbe

struct MediaFaststartCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "faststart",
    abstract: "Bring the tables of MP4 and MOV files to their front, so that they start at once.",
    discussion: """
      Nothing is coded anew, and no sample changes. A file is written anew beside itself, read through, and \
      then takes its own place at once: a run that is killed leaves it as it was. A file whose tables are in \
      front already stays as it is. What is wrong with a file is reported as FILE: what is wrong, and the \
      exit status is then 1.
      """)

  @Argument(help: "MP4 and MOV files.")
  var files: [String]

  @Option(help: "Writes the new file here, and leaves the one file as it is.")
  var output: String?

  mutating func validate() throws {
    guard output == nil || files.count == 1 else {
      throw ValidationError("--output takes one file, not \(files.count)")
    }
  }

  func run() throws {
    var hasFailed = false
    for file in files {
      do {
        let bytes = try Faststart.rewrite(file, to: output)
        let text =
          bytes.map { "\(output ?? file): its tables are in front now, \($0) bytes" }
          ?? "\(file): its tables are in front already"
        print(text.escapedForTerminal())
      } catch {
        hasFailed = true
        printError("\(file): \(error)")
      }
    }
    if hasFailed { throw ExitCode.failure }
  }
}
