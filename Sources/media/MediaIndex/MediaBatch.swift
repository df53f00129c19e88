import Catalog
import Feed
import MediaProbe
import System

/// The unwritten results of a run, and the counts of the whole run.
struct MediaBatch {
  private let store: any MediaStore
  private let desk: ContentDesk
  /// Whether nothing is written.
  private let isDry: Bool
  /// Returns whether a missing file currently counts as gone.
  private let believesGone: () -> Bool
  private var media: [KnownMedia] = []
  private var outdated: [String] = []
  private var unavailable: [String] = []
  private var digests: [[UInt8]] = []
  private var files = 0
  private var lastWrite = MonotonicClock.nanoseconds
  private(set) var addition = MediaAddition()

  init(
    store: any MediaStore, desk: ContentDesk, isDry: Bool, believesGone: @escaping () -> Bool
  ) {
    self.store = store
    self.desk = desk
    self.isDry = isDry
    self.believesGone = believesGone
  }

  /// Whether the batch should be written now.
  var isDue: Bool {
    guard files > 0 else { return false }
    let nanoseconds = MonotonicClock.nanoseconds - lastWrite
    return files >= MediaIndexer.batchFiles
      || nanoseconds >= UInt64(MediaIndexer.batchMilliseconds) * 1_000_000
  }

  /// Counts an outcome and collects its changes.
  ///
  /// - Throws: the error of a `stopped` outcome.
  mutating func add(_ outcome: MediaOutcome, _ onRemark: (MediaRemark) -> Void) throws {
    if files == 0 { lastWrite = MonotonicClock.nanoseconds }
    files += 1
    switch outcome {
    case .unchanged(let renditions):
      addition.unchanged += 1
      add(renditions, onRemark)
    case .remembered(.known): addition.unchanged += 1
    case .remembered(.passedOver): addition.passedOver += 1
    case .remembered(.failed): addition.failed += 1
    case .waiting(let urls):
      addition.waiting += 1
      outdated += urls
    case .passedOver(let urls):
      addition.passedOver += 1
      outdated += urls
    case .known(let finding): add(finding, onRemark)
    case .failed(let path, let reason, let urls, let unavailableURLs, let sha256):
      addition.failed += 1
      let isUnavailable = Set(unavailableURLs.map(ByteText.init))
      outdated += urls.filter { !isUnavailable.contains(ByteText($0)) }
      unavailable += unavailableURLs
      if let sha256 { digests.append(sha256) }
      onRemark(.problem(path: path, reason: reason))
    case .stopped(let error): throw error
    }
  }

  private mutating func add(_ finding: MediaOutcome.Finding, _ onRemark: (MediaRemark) -> Void) {
    media += finding.media
    add(finding.renditions, onRemark)
    if let sha256 = finding.sha256 { digests.append(sha256) }
    guard let notes = finding.notes else {
      addition.recognized += 1
      return
    }
    addition.probed += 1
    if notes.contains(.noFFmpeg) { addition.withoutDecoder += 1 }
    // The operator gets one message about a missing program.
    for note in notes where note != .noFFmpeg { onRemark(.note(path: finding.path, note)) }
  }

  private mutating func add(
    _ renditions: MediaOutcome.Renditions, _ onRemark: (MediaRemark) -> Void
  ) {
    addition.renditionsMade += renditions.made.count
    addition.renditionsKept += renditions.kept
    addition.renditionsDropped += renditions.dropped
    addition.renditionsFailed += renditions.problems.count
    for problem in renditions.problems {
      onRemark(.problem(path: renditions.path, reason: problem))
    }
    guard isDry else { return }
    for rendition in renditions.made { onRemark(.plan(path: renditions.path, rendition)) }
  }

  /// Counts removed renditions.
  mutating func addRemoved(_ renditions: Int) { addition.renditionsRemoved += renditions }

  /// Writes the batch.
  mutating func write() throws {
    if !isDry {
      try store.keep(withoutOutdated(media))
      try forget(outdated)
      try keepUnavailable()
    }
    for digest in digests { desk.release(digest) }
    media = []
    outdated = []
    unavailable = []
    digests = []
    files = 0
  }

  /// Removes facts about objects whose whole content became known since they were inspected, by an
  /// upload or for renditions.
  private func withoutOutdated(_ media: [KnownMedia]) throws -> [KnownMedia] {
    func isTagged(_ media: KnownMedia) -> Bool {
      if case .entityTag = media.truth.version { true } else { false }
    }
    guard media.contains(where: isTagged) else { return media }
    return zip(media, try store.media(at: media.map(\.url))).filter { found, now in
      !isTagged(found)
        || now?.isByContent(
          bytes: found.truth.bytes, changedNanoseconds: found.changedNanoseconds) != true
    }.map(\.0)
  }

  /// Removes the facts about missing files below these targets.
  mutating func forgetGone(_ sweep: MediaSweep, _ targets: [MediaTarget]) throws {
    try sweep.forEachGone(below: targets) { urls in try forget(urls) }
  }

  /// Stores that there is nothing to load, in place of the known facts.
  private mutating func keepUnavailable() throws {
    let known = try zip(unavailable, store.media(at: unavailable)).filter {
      $0.1?.truth.isUnavailable != true
    }
    // Checked after the files were found missing: a mount may disappear at any moment of a run.
    guard !known.isEmpty, believesGone() else { return }
    try store.keep(known.map { KnownMedia(url: $0.0, truth: .unavailable) })
    addition.forgotten += known.filter { $0.1 != nil }.count
  }

  private mutating func forget(_ urls: [String]) throws {
    let known = zip(urls, try store.media(at: urls)).filter { $0.1 != nil }.map(\.0)
    // Checked after the files were found missing: a mount may disappear at any moment of a run.
    guard !known.isEmpty, believesGone() else { return }
    try store.forget(known)
    addition.forgotten += known.count
  }
}

extension KnownMedia {
  /// Whether the facts come from the whole content, with this size and change time.
  func isByContent(bytes: Int, changedNanoseconds: Int64?) -> Bool {
    guard case .content = truth.version else { return false }
    return truth.bytes == bytes && self.changedNanoseconds == changedNanoseconds
  }
}
