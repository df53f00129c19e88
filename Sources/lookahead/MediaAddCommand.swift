import ArgumentParser
import Foundation
import MediaFiles
import MediaIndex
import MediaProbe
import SQLiteStore
import Service
import System

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

  @Argument(help: "Files and folders in the media root.")
  var paths: [String]

  @OptionGroup var options: DatabaseOptions

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

  @Flag(help: "Decode every file again, whatever is known: for what a newer ffmpeg can tell.")
  var again = false

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

  func run() throws {
    let root = try root()
    // Looked at before anything is written.
    let targets = try paths.map { path throws(MediaTargetError) in
      try MediaTarget(path: path, in: root)
    }
    var configuration = FeedServiceConfiguration(databasePath: options.database)
    Setting.apply(Setting.list(of: self), to: &configuration)
    let store = try SQLiteStore(path: options.database, options: configuration.store)
    var indexer = MediaIndexer(
      root: root, addresses: try MediaAddresses(baseURLs: baseURL), store: store,
      probe: MediaProbe(settings: decoding.settings), jobs: jobs)
    indexer.isAnew = again
    let adding = Result { try indexer.run(targets, showing: ProgressMeter()) }
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
