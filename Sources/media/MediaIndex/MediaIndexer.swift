// `MediaIndex` brings the two together: some threads each take the next file of a `MediaWalk`
// (`MediaQueue`) and look into it no further than is needed (`FileLook`), and the thread that runs
// them writes what they found out, many files in a transaction (`MediaBatch`). `ContentDesk` has a
// content probed once, however many files have it; `MediaAddresses` are the URLs by which posts
// may name a file; `MediaSweep` finds what is gone. Beside each file `RenditionShelf` looks for
// its renditions, in the folder `_renditions` that the walk passes over, and where there is a
// `RenditionMaker` has it make those that are missing: what is to be made follows from what is
// known of the file (`Rendition.ladder`), what it is called from that and the file's content
// (`RenditionName`), so that nothing must be recorded of what was made. `RenditionSweep`
// removes those whose content is gone. A rendition is looked into as every file is, before it
// bears its name, and is then a variant of its file. In a service `MediaKeeper` runs it again and
// again: at a `MediaPace`, with a `MediaMemory` of what became of each file, so that what looks as
// it did costs a look, and only where it has the `MediaLock` of the database.
//
// What is known of a file because somebody looked into it (`MediaTruth`) is kept beside posts, by
// version: `media_truth` has it once for a content, `media_file` says which version lies at a URL
// as posts name it (`MediaStore`). A page's posts are read with it, and their items are made of it
// before what their records say; records, exports and the tags of writers know nothing of it. Its
// variants, which show the same in fewer bytes, are what lies beside a URL and not what is true of
// a version: `media_file` has them. `HintCosts.choice` is what chooses among them, in hints and
// plans alike. Rows have it in a compact form with a check sum (`PackedTruth`), for it is read
// with every page that is not kept. A row that cannot be read is as none, and `check` reports it.
// When something becomes known, the posts that show the file are told as changed, which an index
// of all URLs finds (a thirteenth of a database of 311 076 real posts).

import Catalog
import MediaFiles
import MediaProbe
import System

/// Inspects the files of a media root, and stores the facts about them.
///
/// Theory of operation. Some threads each take the next file (`MediaQueue`), inspect it (`FileLook`), and
/// report the outcome. The thread that runs all this writes that to the store, many files in a
/// transaction: a full batch, or what there is after a second. What it has not written yet is bounded, and a
/// process that is killed loses no more than that: the next run finds the rest unchanged. When all folders
/// have been gone through, what the store knows of files below them that are gone is forgotten
/// (`MediaSweep`). Renditions are looked for beside each file (`RenditionShelf`), and made there where that
/// is wanted.
package struct MediaIndexer: Sendable {
  let storage: MediaStorage
  let addresses: MediaAddresses
  let store: any MediaStore
  let probe: MediaProbe
  private let listed = ListedObjects()
  /// How many files are looked into at once.
  package var jobs: Int
  /// Whether each file is probed again, whatever is known.
  package var isAnew = false
  /// Makes the renditions that are not there; nil where those that are there do.
  package var maker: RenditionMaker?
  /// Whether nothing is written, neither files nor to the store.
  package var isDry = false
  /// How much of a processor it takes; nil for as much as there is.
  package var pace: MediaPace?
  /// The outcomes of files in earlier runs; nil if they are not remembered.
  package var memory: MediaMemory?
  /// A file that changed so shortly ago is left for a later run.
  package var settlingMilliseconds = 0
  /// Whether what is known is forgotten, too, where there is no file at all: as below a mount that is not there.
  package var believesEmptyFolders = true

  /// The number of files in a transaction.
  static let batchFiles = 64
  /// Or what there is after so long.
  static let batchMilliseconds = 1_000
  /// The maximum number of files that wait to be written; at that number the threads inspect no more.
  static let waitingFiles = 256

  /// Creates an indexer of these files, with this many threads, 1 or more.
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

  /// What threads have found out and the run has not taken yet.
  private struct Inbox: Sendable {
    var outcomes: [MediaOutcome] = []
    var threads: Int
    /// Whether no thread takes files any more, so that there is nothing to wait for.
    var isClosed = false
  }

  /// Looks into all of these.
  ///
  /// - Throws: what the store throws. What was written before stays.
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
      // Each thread ends with its current file, and no thread waits for another.
      queue.stop()
      inbox.withLock { $0.isClosed = true }
      inbox.notify()
      inbox.wait { $0.threads == 0 ? () : nil }
      throw error
    }
    return batch.addition
  }

  /// Does a piece of work at the set pace; nil if there is no work, or the run is ending.
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
        // The threads that there are do the work of those for which the system has no room.
        guard index > 0 else { throw error }
        inbox.withLock { $0.threads -= 1 }
      }
    }
  }
}

extension FileLook {
  /// What becomes of the next file: of a large one when there is no other left.
  fileprivate func nextOutcome(of queue: MediaQueue) -> MediaOutcome? {
    while let (work, isDue) = queue.next() {
      if isDue || !isLarge(work) { return outcome(of: work) }
      queue.postpone(work)
    }
    return nil
  }

  /// Reading all of it takes seconds.
  private static let largeBytes = 256 << 20

  private func isLarge(_ work: MediaQueue.Work) -> Bool {
    switch work {
    case .file(let segments, _), .namedByPost(let segments, _):
      // Of an object a few pieces are read.
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
