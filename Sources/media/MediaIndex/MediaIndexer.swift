// `MediaIndex` applies `MediaProbe` to the files of `MediaFiles`. Several threads each take the next file of
// a `MediaWalk` (`MediaQueue`) and inspect it no further than necessary (`FileLook`). The thread that runs
// them writes the results, many files in a transaction (`MediaBatch`). `ContentDesk` has each content probed
// once, however many files have it. `MediaAddresses` are the URLs by which posts may name a file;
// `MediaSweep` finds files that are gone. For each file, `RenditionShelf` looks for renditions in the folder
// `_renditions`, which the walk skips, and has a `RenditionMaker`, if there is one, make the missing ones.
// The renditions to make follow from the facts about the file (`Rendition.ladder`), and their names from
// those and the file's content (`RenditionName`), so nothing has to be recorded about them. `RenditionSweep`
// removes those whose content is gone. A rendition is probed like every file before it gets its name; then it
// is a variant of its file. In a service, `MediaKeeper` repeats the run: at a `MediaPace`; with a
// `MediaMemory` of the outcomes, so that an unchanged file costs only reading its status; and only in the
// process that has the `MediaLock` of the database.
//
// The facts about a file that come from inspecting it (`MediaTruth`) are stored apart from posts, by version:
// `media_truth` has them once per content, `media_file` has the version at each URL in posts (`MediaStore`).
// The store reads them with the posts of a page, and items take them before the statements of the posts'
// records; records, exports and the tags of writers do not contain them. The variants of a file, which show
// the same in fewer bytes, depend on its URL and not on its version, so `media_file` has them.
// `HintCosts.choice` chooses among them, in hints and plans alike. Rows have a compact form with a check sum
// (`PackedTruth`), because every page that is not cached reads them. An unreadable row is treated as absent,
// and `check` reports it. When facts change, the posts that show the file count as changed; an index of all
// URLs finds them (a thirteenth of a database of 311 076 real posts).

import Catalog
import MediaFiles
import MediaProbe
import System

/// Inspects the files of a media root and stores the facts about them.
///
/// Several threads each take the next file (`MediaQueue`), inspect it (`FileLook`), and report the outcome.
/// The thread that runs them writes the outcomes to the store, many files in a transaction: a full batch, or
/// a smaller one after a second. The number of unwritten outcomes is limited, and a killed process loses only
/// those: the next run finds the other files unchanged. When the walk through all folders is complete, the
/// store forgets the facts about missing files below them (`MediaSweep`). The renditions of each file are
/// looked up (`RenditionShelf`), and made if there is a maker.
package struct MediaIndexer: Sendable {
  let storage: MediaStorage
  let addresses: MediaAddresses
  let store: any MediaStore
  let probe: MediaProbe
  private let listed = ListedObjects()
  /// The number of threads that inspect files.
  package var jobs: Int
  /// Whether each file is probed again, even if its facts are known.
  package var isAnew = false
  /// The maker of missing renditions; nil to use the existing ones only.
  package var maker: RenditionMaker?
  /// Whether nothing is written, neither files nor to the store.
  package var isDry = false
  /// The limit of processor time; nil for no limit.
  package var pace: MediaPace?
  /// The outcomes of files in earlier runs; nil if they are not remembered.
  package var memory: MediaMemory?
  /// The time after a change during which a file is left for a later run.
  package var settlingMilliseconds = 0
  /// Whether facts are also removed if the storage has no files at all, as with a missing mount.
  package var believesEmptyFolders = true

  /// The number of files in a transaction.
  static let batchFiles = 64
  /// The maximum time before a smaller batch is written.
  static let batchMilliseconds = 1_000
  /// The maximum number of inspected files that wait to be written; the threads then wait, too.
  static let waitingFiles = 256

  /// Creates an indexer of these files with this many threads, at least 1.
  package init(
    _ storage: MediaStorage, addresses: MediaAddresses, store: any MediaStore, probe: MediaProbe,
    jobs: Int
  ) {
    precondition(jobs > 0)
    self.storage = storage
    self.addresses = addresses
    self.store = store
    self.probe = probe
    self.jobs = jobs
  }

  /// The outcomes that the run has not taken yet.
  private struct Inbox: Sendable {
    var outcomes: [MediaOutcome] = []
    var threads: Int
    /// Whether the run takes no more outcomes, so that no thread waits for it.
    var isClosed = false
  }

  /// Inspects all these targets.
  ///
  /// - Throws: what the store throws. Batches written before stay in the store.
  package func run(
    _ targets: [MediaTarget], onRemark: (MediaRemark) -> Void,
    onProgress: (MediaAddition) -> Void
  ) throws -> MediaAddition {
    let queue = MediaQueue(targets, in: storage, listed, addresses, store)
    let desk = ContentDesk()
    let inbox = Monitor(Inbox(threads: jobs))
    let look = FileLook(
      storage: storage, listed: listed, addresses: addresses, store: store, probe: probe,
      desk: desk,
      shelf: RenditionShelf(storage: storage, probe: probe, maker: maker, isDry: isDry),
      isAnew: isAnew, memory: memory, settlingMilliseconds: settlingMilliseconds)
    try startThreads(inbox) {
      while let outcome = paced({ look.nextOutcome(of: queue) }) {
        inbox.wait { inbox -> Void? in
          guard inbox.isClosed || inbox.outcomes.count < Self.waitingFiles else { return nil }
          return inbox.outcomes.append(outcome)
        }
        inbox.notify()
      }
    }
    var batch = MediaBatch(store: store, desk: desk, isDry: isDry) { [storage] in
      believesEmptyFolders || !storage.isEmpty
    }
    do {
      while true {
        let taken = inbox.wait(atMostMilliseconds: Self.batchMilliseconds / 4) { inbox -> Inbox? in
          guard !inbox.outcomes.isEmpty || inbox.threads == 0 else { return nil }
          defer { inbox.outcomes = [] }
          return inbox
        }
        inbox.notify()
        for outcome in taken?.outcomes ?? [] { try batch.add(outcome, onRemark) }
        if batch.isDue { try batch.write() }
        onProgress(batch.addition)
        if let taken, taken.threads == 0 { break }
      }
      try batch.write()
      if !isDry, believesEmptyFolders || batch.addition.files + batch.addition.waiting > 0 {
        let sweep = MediaSweep(
          storage: storage, listed: listed, addresses: addresses, store: store, pace: pace)
        try batch.forgetGone(sweep, targets)
      }
      if !isDry, maker != nil {
        let sweep = RenditionSweep(storage: storage, addresses: addresses, store: store)
        batch.addRemoved(try sweep.removeStale(below: targets))
      }
    } catch {
      // Each thread ends after its current file, and no thread waits for another.
      queue.stop()
      inbox.withLock { $0.isClosed = true }
      inbox.notify()
      inbox.wait { $0.threads == 0 ? () : nil }
      throw error
    }
    return batch.addition
  }

  /// Does a piece of work at the set pace; returns nil if there is no work, or the run is ending.
  private func paced(_ work: () -> MediaOutcome?) -> MediaOutcome? {
    guard let pace else { return work() }
    return pace.isStopped ? nil : pace.work(work)
  }

  private func startThreads(
    _ inbox: Monitor<Inbox>, _ body: @escaping @Sendable () -> Void
  ) throws {
    for index in 0..<jobs {
      do throws(SystemError) {
        try startThread(scheduling: .background) {
          body()
          inbox.withLock { $0.threads -= 1 }
          inbox.notify()
        }
      } catch {
        // If the system cannot start more threads, the started ones do all the work.
        guard index > 0 else { throw error }
        inbox.withLock { $0.threads -= 1 }
      }
    }
  }
}

extension FileLook {
  /// Returns the outcome of the next file; large files come last.
  fileprivate func nextOutcome(of queue: MediaQueue) -> MediaOutcome? {
    while let (work, isDue) = queue.next() {
      if isDue || !isLarge(work) { return outcome(of: work) }
      queue.postpone(work)
    }
    return nil
  }

  /// The size from which reading a file takes seconds.
  private static let largeBytes = 256 << 20

  private func isLarge(_ work: MediaQueue.Work) -> Bool {
    switch work {
    case .file(let segments, _), .namedByPost(let segments, _):
      // Only a few pieces of an object are read.
      storage.root.flatMap { try? $0.status(of: segments) }.map { $0.bytes > Self.largeBytes }
        ?? false
    case .object, .notServed, .problem, .stopped: false
    }
  }

  private func outcome(of work: MediaQueue.Work) -> MediaOutcome {
    switch work {
    case .file(let segments, let isNamed): outcome(of: segments, isNamed: isNamed)
    case .object(let segments, let status):
      outcome(of: segments, isNamed: false, status: status)
    case .namedByPost(let segments, let url): outcome(of: segments, isNamed: true, url: url)
    case .stopped(let error): .stopped(error)
    case .notServed(let segments): .passedOver(urls: addresses.urls(of: segments))
    case .problem(let path, let reason):
      .failed(path: storage.name + "/" + path, reason: reason, urls: [], sha256: nil)
    }
  }
}
