import ArgumentParser
import MediaIndex
import MediaProbe
import ObjectStorage
import Service

struct MediaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "media", abstract: "Look after media files.",
    subcommands: [
      MediaAddCommand.self, MediaRenditionsCommand.self, MediaFaststartCommand.self,
      MediaSweepCommand.self,
    ])
}

struct MediaAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Find out what media files are, and keep it for the posts that show them.",
    discussion: """
      Of a folder all files below it that are images, videos or sounds. Posts that name a file by its URL, \
      /media/ and its path below the media root, show what is known of it from then on, in servers that run, \
      too; their records stay as they are. A file that has the size and the time of change that it had is \
      not read again, and a content that is known not decoded again: the same run twice changes nothing, and \
      one that was killed goes on. What is known of files that are gone or broken is forgotten. What is \
      wrong with a file is reported as FILE: what is wrong, and the exit status is then 1.
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
    abstract: "Bring the tables of MP4 and MOV files to their front, so that they start at once.",
    discussion: """
      Nothing is coded anew, and no sample changes. A file is written anew beside itself, read through, and \
      then takes its own place at once: a run that is killed leaves it as it was. A file whose tables are in \
      front already stays as it is. What is wrong with a file is reported as FILE: what is wrong, and the \
      exit status is then 1.
      """)

  @Argument(help: "MP4 and MOV files.")
  var files: [String]

  @Option(help: "Write the new file here, and leave the old one as it is.")
  var output: String?

  mutating func validate() throws {
    if let file = (files + [output].compactMap(\.self)).first(where: ObjectAddress.isOne) {
      throw ValidationError(
        "\(file): objects are not rewritten in place; put the file with ?faststart=1 instead")
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

struct MediaRenditionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renditions",
    abstract: "Make smaller files that show the same, beside the originals.",
    discussion: """
      Of a picture one in WebP of each of the widths 320, 640 and 1280 that it has more of; of a GIF or APNG a \
      WebP animation no wider than 640; of a video two in H.264 and AAC, of fewer lines and bits, with their \
      tables in front and a key frame every two seconds; of sound nothing. They lie in the folder _renditions \
      beside the original, in a bucket, too, and bear its content's hash: a run that was killed goes on, the same run twice makes \
      nothing, and those of a content that is gone are removed. One that would save less than a tenth of \
      the bytes is not kept. What media add does is done, too: posts that name the original show its renditions \
      from then on as its variants. Nothing of the original changes. What is wrong with a file is reported as \
      FILE: what is wrong, and the exit status is then 1.
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
