import ArgumentParser
import MediaIndex
import MediaProbe
import Service

struct MediaRenditionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "renditions",
    abstract: "Make smaller files that show the same, beside the originals.",
    discussion: """
      Of a picture one in WebP of each of the widths 320, 640 and 1280 that it has more of; of a GIF or APNG a \
      WebP animation no wider than 640; of a video two in H.264 and AAC, of fewer lines and bits, with their \
      tables in front and a key frame every two seconds; of sound nothing. They lie in the folder _renditions \
      beside the original, and bear its content's hash: a run that was killed goes on, the same run twice makes \
      nothing, and those of a content that is gone are removed. One that would save less than a tenth of \
      the bytes is not kept. What media add does is done, too: posts that name the original show its renditions \
      from then on as its variants. Nothing of the original changes. What is wrong with a file is reported as \
      FILE: what is wrong, and the exit status is then 1.
      """)

  @OptionGroup var files: MediaFilesOptions

  @OptionGroup var options: DatabaseOptions

  @Option("rendition-timeout-milliseconds") var renditionTimeoutMilliseconds: Int

  @Option("rendition-memory-bytes") var renditionMemoryBytes: Int

  @Flag(help: "Say what would be made, and write nothing.")
  var dryRun = false

  func run() throws {
    var configuration = FeedServiceConfiguration(try options.location())
    Setting.apply(Setting.list(of: self), to: &configuration)
    try files.run(configuration) { indexer in
      var limits = RenditionMaker.Limits()
      limits.timeMilliseconds = renditionTimeoutMilliseconds
      limits.memoryBytes = renditionMemoryBytes
      indexer.maker = try RenditionMaker(
        probe: MediaProbe(settings: files.decoding.settings), limits: limits)
      indexer.isDry = dryRun
    }
  }
}
