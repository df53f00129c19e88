import ArgumentParser
import MediaFiles
import MediaIndex
import MediaProbe
import RowStore
import Service
import System

/// Which files of a media root are looked into, and what that may cost.
struct MediaFilesOptions: ParsableArguments {
  @Argument(help: "Files and folders in the media root.")
  var paths: [String]

  @Option(help: "The folder of the files under /media/; by default the one that is named.")
  var mediaRoot: String?

  @Option(
    name: .customLong("base-url"),
    help: ArgumentHelp(
      "A URL in front of the files' paths by which posts name them, too; may be given several times.",
      valueName: "url"))
  var baseURL: [String] = []

  @Option("jobs") var jobs: Int

  @OptionGroup var decoding: DecodingOptions

  mutating func validate() throws {
    mediaRoot = mediaRoot ?? Environment.text("media-root")
    if baseURL.isEmpty {
      baseURL = Environment.text("base-url", default: "").split(separator: ",").map(String.init)
    }
    try Setting.validate(self)
    do throws(MediaAddressError) {
      _ = try MediaAddresses(baseURLs: baseURL)
    } catch {
      throw ValidationError("--base-url: \(error)")
    }
    guard mediaRoot != nil || paths.count == 1 else {
      throw ValidationError("--media-root says in which folder of /media/ these lie")
    }
  }

  /// Looks into the files, and keeps what is known of them in the database.
  ///
  /// - Parameter adapt: says what else is to be done.
  func run(
    _ configuration: FeedServiceConfiguration,
    _ adapt: (inout MediaIndexer) throws -> Void
  ) throws {
    let root = try root()
    // Looked at before anything is written.
    let targets = try paths.map { path throws(MediaTargetError) in
      try MediaTarget(path: path, in: root)
    }
    let store = try configuration.opening.open(configuration.location)
    let adding = Result {
      var indexer = MediaIndexer(
        root: root, addresses: try MediaAddresses(baseURLs: baseURL), store: store,
        probe: MediaProbe(settings: decoding.settings), jobs: jobs)
      try adapt(&indexer)
      try indexer.run(targets, showing: ProgressMeter())
    }
    try store.close()
    try adding.get()
  }

  /// The media root, or the folder that is named.
  private func root() throws -> MediaRoot {
    let path = mediaRoot ?? paths[0]
    do throws(MediaError) {
      return try MediaRoot(path: path)
    } catch {
      let isFile =
        mediaRoot == nil && (try? FileStatus(path: path))?.isRegularFile == true
      throw MediaTargetError.unusable(
        path: path,
        reason: isFile
          ? "it is no folder: --media-root says in which folder of /media/ it lies"
          : MediaWalk.WalkProblem.media(error).description)
    }
  }
}
