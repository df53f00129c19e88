import ArgumentParser
import Foundation
import MediaFiles
import MediaIndex
import MediaProbe
import RowStore
import Service
import System

/// The files of a media root to analyze, and the limits of that.
struct MediaFilesOptions: ParsableArguments {
  @Argument(help: "Files and folders in the media root; for a bucket, s3://bucket/prefix/…")
  var paths: [String]

  @Option(
    help: "Folder of the files under /media/, or s3://bucket/prefix; default: the folder argument.")
  var mediaRoot: String?

  @Option(
    name: .customLong("base-url"),
    help: ArgumentHelp(
      "URL prefix by which posts also name the files, before their paths; may be repeated.",
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
      throw ValidationError("--media-root is required with several files or folders")
    }
  }

  /// Analyzes the files, and stores the facts about them in the database.
  ///
  /// - Parameter adapt: changes the indexer before it runs.
  func run(
    _ configuration: FeedServiceConfiguration,
    _ adapt: (inout MediaIndexer) throws -> Void
  ) throws {
    let storage = try storage()
    // Checked before anything is written.
    let targets = try paths.map { path throws(MediaTargetError) in
      try MediaTarget(path: path, in: storage)
    }
    let store = try configuration.opening.open(configuration.location).store
    let adding = Result {
      var indexer = MediaIndexer(
        storage, addresses: try MediaAddresses(baseURLs: baseURL), store: store,
        probe: MediaProbe(settings: decoding.settings), jobs: jobs)
      try adapt(&indexer)
      try indexer.run(targets, showing: ProgressMeter())
    }
    try store.close()
    try adding.get()
  }

  /// The media root, or the folder in the arguments.
  private func storage() throws -> MediaStorage {
    let path = mediaRoot ?? paths[0]
    let isFile = mediaRoot == nil && (try? FileStatus(path: path))?.isRegularFile == true
    guard !isFile else {
      throw MediaTargetError.unusable(
        path: path, reason: "it is not a folder; name the folder of /media/ with --media-root")
    }
    return try MediaStorage.named(path)
  }
}

extension MediaStorage {
  /// The folder at a path, or the bucket at an address, with access from the environment.
  ///
  /// - Throws: `MediaTargetError` if it cannot be used.
  static func named(_ text: String) throws(MediaTargetError) -> MediaStorage {
    do {
      let storage = try MediaStorage.open(
        text, environment: ProcessInfo.processInfo.environment)
      try storage.bucket?.requireUsable()
      return storage
    } catch let error as MediaError {
      throw .unusable(path: text, reason: MediaWalk.WalkProblem.media(error).description)
    } catch {
      throw .unusable(path: text, reason: "\(error)")
    }
  }
}

extension MediaIndexer {
  /// Analyzes all targets, and shows the progress, the problems of files, and the result.
  ///
  /// - Throws: what the store throws; `ExitCode.failure` if a file had a problem.
  func run(_ targets: [MediaTarget], showing meter: ProgressMeter) throws {
    defer { meter.clear() }
    let addition = try run(
      targets, onRemark: { meter.report($0.description) },
      onProgress: { meter.show($0.progress(makesRenditions: maker != nil)) })
    meter.clear()
    addition.print(seconds: meter.seconds)
    if maker != nil { addition.printRenditions(isDry: isDry) }
    if addition.failed + addition.renditionsFailed > 0 { throw ExitCode.failure }
  }
}

extension MediaAddition {
  fileprivate func progress(makesRenditions: Bool) -> String {
    let found = "\(files) files, \(probed) probed"
    return makesRenditions ? found + ", \(renditionsMade) renditions made" : found
  }

  fileprivate func printRenditions(isDry: Bool) {
    var counts = ["\(renditionsMade) \(isDry ? "would be made" : "made")"]
    if renditionsKept > 0 { counts.append("\(renditionsKept) already there") }
    if renditionsDropped > 0 {
      counts.append("\(renditionsDropped) would save less than a tenth")
    }
    if renditionsFailed > 0 { counts.append("\(renditionsFailed) failed") }
    if renditionsRemoved > 0 {
      counts.append("\(renditionsRemoved) of deleted contents removed")
    }
    lookahead.print("renditions: \(counts.joined(separator: ", "))")
  }

  fileprivate func print(seconds: Double) {
    var counts = [
      "\(probed) probed", "\(recognized) recognized by content", "\(unchanged) unchanged",
    ]
    if passedOver > 0 { counts.append("\(passedOver) not media files") }
    if forgotten > 0 { counts.append("\(forgotten) forgotten") }
    if failed > 0 { counts.append("\(failed) failed") }
    let rate = seconds > 0 ? Int(Double(files) / seconds) : files
    let text = counts.joined(separator: ", ")
    lookahead.print("\(text) in \(String(format: "%.1f", seconds)) s, \(rate) a second")
    guard withoutDecoder > 0 else { return }
    printError(
      "ffmpeg is not installed: \(withoutDecoder) files were not decoded and have no placeholder; "
        + "after installing it, run lookahead media add --again")
  }
}
