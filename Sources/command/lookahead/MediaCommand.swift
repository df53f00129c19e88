import ArgumentParser
import MediaIndex
import MediaProbe
import ObjectStorage
import Service

struct MediaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "media", abstract: "Manage media files.",
    subcommands: [
      MediaAddCommand.self, MediaRenditionsCommand.self, MediaFaststartCommand.self,
      MediaSweepCommand.self,
    ])
}

struct MediaAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Probe media files, and store the facts for the posts that show them.",
    discussion: """
      Reads all images, videos and sounds below a folder. From then on, posts that name a file by \
      its URL (/media/ and its path below the media root) show the stored facts, in running \
      servers as well; the records of the posts stay unchanged. A file with unchanged size and \
      modification time is not read again, and known content is not decoded again: a second run \
      changes nothing, and a killed run can be continued. Facts about files that are gone or \
      broken are deleted. A problem with a file is reported as FILE: problem, and the exit status \
      is then 1.
      """)

  @OptionGroup var files: MediaFilesOptions

  @OptionGroup var options: DatabaseOptions

  @Flag(help: "Decode every file again, to use a newer ffmpeg.")
  var again = false

  func run() throws {
    var configuration = FeedServiceConfiguration(try options.location())
    Setting.apply(Setting.list(of: self), to: &configuration)
    try files.run(configuration) { $0.isAnew = again }
  }
}

struct MediaFaststartCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "faststart",
    abstract: "Move the tables of MP4 and MOV files to the front, so that they start at once.",
    discussion: """
      Nothing is re-encoded, and no sample changes. The new file is written next to the old one, \
      verified, and then replaces it atomically: a killed run leaves the old file unchanged. A \
      file with its tables in front stays unchanged. A problem with a file is reported as FILE: \
      problem, and the exit status is then 1.
      """)

  @Argument(help: "MP4 and MOV files.")
  var files: [String]

  @Option(help: "Write the new file here, and leave the old one unchanged.")
  var output: String?

  mutating func validate() throws {
    if let file = (files + [output].compactMap(\.self)).first(where: ObjectAddress.isOne) {
      throw ValidationError(
        "\(file): objects cannot be rewritten in place; upload the file with ?faststart=1 instead")
    }
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
          bytes.map { "\(output ?? file): its tables are now in front, \($0) bytes" }
          ?? "\(file): its tables are already in front"
        print(text.escapedForTerminal())
      } catch {
        hasFailed = true
        printError("\(file): \(error)")
      }
    }
    if hasFailed { throw ExitCode.failure }
  }
}

struct MediaRenditionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renditions",
    abstract: "Make smaller versions of media files, next to the originals.",
    discussion: """
      For a picture: a WebP file of each width of 320, 640 and 1280 that is smaller than its own. \
      For a GIF or APNG: a WebP animation no wider than 640. For a video: two files in H.264 and \
      AAC with fewer lines and bits, tables in front, and a key frame every two seconds. For \
      sound: nothing. The files are stored in the folder _renditions next to the original, in a \
      bucket as well, and have its content hash in their names: a killed run can be continued, a \
      second run makes nothing, and renditions of content that is gone are removed. A rendition \
      that would save less than a tenth of the bytes is not kept. The command also does what media \
      add does: from then on, posts that name the original show its renditions as variants. The \
      original does not change. A problem with a file is reported as FILE: problem, and the exit \
      status is then 1.
      """)

  @OptionGroup var files: MediaFilesOptions

  @OptionGroup var options: DatabaseOptions

  @Option("rendition-timeout-milliseconds") var renditionTimeoutMilliseconds: Int

  @Option("rendition-memory-bytes") var renditionMemoryBytes: Int

  @Option("rendition-nice") var renditionNice: Int

  @Flag(help: "Print what would be made, and write nothing.")
  var dryRun = false

  func run() throws {
    var configuration = FeedServiceConfiguration(try options.location())
    Setting.apply(Setting.list(of: self), to: &configuration)
    try files.run(configuration) { indexer in
      var limits = RenditionMaker.Limits()
      limits.timeMilliseconds = renditionTimeoutMilliseconds
      limits.memoryBytes = renditionMemoryBytes
      limits.nice = renditionNice
      indexer.maker = try RenditionMaker(
        probe: MediaProbe(settings: files.decoding.settings), limits: limits)
      indexer.isDry = dryRun
    }
  }
}
