import Catalog
import MediaFiles
import MediaProbe
import System

/// Finds out what is to be known of the files of a media root, and keeps it in a store.
///
/// Theory of operation. Some threads each take the next file (`MediaQueue`), look into it (`FileLook`), and
/// say what became of it. The thread that runs all this writes that to the store, many files in a
/// transaction: so many, or what there is after a second. What it has not written yet is bounded, and a
/// process that is killed loses no more than that: the next run finds the rest unchanged. When all folders
/// have been gone through, what the store knows of files below them that are gone is forgotten
/// (`MediaSweep`). Renditions are looked for beside each file (`RenditionShelf`), and made there where that
/// is wanted.
public struct MediaIndexer: Sendable {
  let root: MediaRoot
  let addresses: MediaAddresses
  let store: any MediaStore
  let probe: MediaProbe
  /// How many files are looked into at once.
  public var jobs: Int
  /// Whether each file is probed anew, whatever is known.
  public var isAnew = false
  /// Makes the renditions that are not there; nil where those that are there do.
  public var maker: RenditionMaker?
  /// Whether nothing is written, neither files nor to the store.
  public var isDry = false

  /// So many files make a transaction.
  static let batchFiles = 64
  /// Or what there is after so long.
  static let batchMilliseconds = 1_000
  /// So many files wait to be written at the most; then nobody looks into more.
  static let waitingFiles = 256

  /// An indexer of a root's files, with so many threads, 1 or more.
  public init(
    root: MediaRoot, addresses: MediaAddresses, store: any MediaStore, probe: MediaProbe, jobs: Int
  ) {
    precondition(jobs > 0)
    self.root = root
    self.addresses = addresses
    self.store = store
    self.probe = probe
    self.jobs = jobs
  }

  /// What threads have found out and the run has not taken yet.
  private struct Inbox: Sendable {
    var outcomes: [MediaOutcome] = []
    var threads: Int
    /// Whether nobody takes anything any more, so that there is nothing to wait for.
    var isClosed = false
  }

  /// Looks into all of these.
  ///
  /// - Throws: what the store throws. What was written before stays.
  public func run(
    _ targets: [MediaTarget], onRemark: (MediaRemark) -> Void,
    onProgress: (MediaAddition) -> Void
  ) throws -> MediaAddition {
    let queue = MediaQueue(targets, in: root, addresses, store)
    let desk = ContentDesk()
    let inbox = Monitor(Inbox(threads: jobs))
    let look = FileLook(
      root: root, addresses: addresses, store: store, probe: probe, desk: desk,
      shelf: RenditionShelf(root: root, probe: probe, maker: maker, isDry: isDry), isAnew: isAnew)
    try startThreads(inbox) {
      while let work = queue.next() {
        let outcome = look.outcome(of: work)
        inbox.wait { inbox -> Void? in
          guard inbox.isClosed || inbox.outcomes.count < Self.waitingFiles else { return nil }
          return inbox.outcomes.append(outcome)
        }
        inbox.notify()
      }
    }
    var batch = MediaBatch(store: store, desk: desk, isDry: isDry)
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
      if !isDry {
        try batch.forgetGone(MediaSweep(root: root, addresses: addresses, store: store), targets)
        if maker != nil {
          let sweep = RenditionSweep(root: root, addresses: addresses, store: store)
          batch.addRemoved(try sweep.removeStale(below: targets))
        }
      }
    } catch {
      // The threads end with the file that each has, and nobody waits for anybody.
      queue.stop()
      inbox.withLock { $0.isClosed = true }
      inbox.notify()
      inbox.wait { $0.threads == 0 ? () : nil }
      throw error
    }
    return batch.addition
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
  fileprivate func outcome(of work: MediaQueue.Work) -> MediaOutcome {
    switch work {
    case .file(let segments, let isNamed): outcome(of: segments, isNamed: isNamed)
    case .namedByPost(let segments, let url): outcome(of: segments, isNamed: true, url: url)
    case .stopped(let error): .stopped(error)
    case .notServed(let segments): .passedOver(urls: addresses.urls(of: segments))
    case .problem(let path, let reason):
      .failed(path: root.path + "/" + path, reason: reason, urls: [], sha256: nil)
    }
  }
}
