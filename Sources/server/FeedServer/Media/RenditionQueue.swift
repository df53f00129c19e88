import Catalog
import Logging
import MediaFiles
import MediaIndex
import MediaProbe
import Synchronization
import System

/// Makes smaller versions of media files on request: one file at a time, with programs at low priority, in
/// the order of the requests.
///
/// The queue is in memory: after a restart, clients ask again, and existing versions are not made twice.
final class RenditionQueue: Sendable {
  /// The state of an order.
  enum State: String, Sendable {
    case waiting, making, made, failed
  }

  /// A file, and the result for it.
  struct Order: Sendable {
    let segments: [String]
    fileprivate(set) var state = State.waiting
    fileprivate(set) var made = 0
    /// The number of versions that existed already.
    fileprivate(set) var kept = 0
    /// The number of versions that would have saved too little.
    fileprivate(set) var dropped = 0
    fileprivate(set) var problem: String?

    fileprivate init(_ segments: [String]) { self.segments = segments }
  }

  /// The number of finished orders that are remembered.
  private static let remembered = 100

  private let storage: MediaStorage
  private let store: any MediaStore
  private let probe: MediaProbe
  private let limits: RenditionMaker.Limits
  private let hasSpool: Bool
  private let logger: Logger
  private let pool: WorkerPool
  private let cancellation = Cancellation()
  private let orders = Mutex<[Order]>([])
  /// Whether ffmpeg was found, with the encoders that it needs.
  private let canMake = Atomic<Bool>(false)
  private let limit: Int

  init(
    _ folder: MediaFolder, _ store: any MediaStore, _ configuration: ApplicationConfiguration,
    _ logger: Logger
  ) {
    (storage, self.store, self.logger) = (folder.storage, store, logger)
    limit = configuration.waitingRenditions
    limits = configuration.renditions
    hasSpool = folder.spool != nil
    // Objects are copied to the folder of incomplete uploads.
    probe = configuration.mediaProbe.cancelled(
      by: cancellation, scratchFolder: folder.storage.bucket == nil ? nil : folder.spool?.path)
    pool = WorkerPool(threads: 1, limit: configuration.waitingRenditions + 1)
  }

  /// The reason why no versions can be made; `nil` if they can. Asks ffmpeg until that succeeds once: for
  /// threads that may wait.
  var problem: String? {
    if canMake.load(ordering: .relaxed) { return nil }
    guard hasSpool else {
      return
        "its media files are in a bucket, and --media-spool-folder is not set"
    }
    do throws(RenditionError) {
      _ = try RenditionMaker(probe: probe, limits: limits)
      canMake.store(true, ordering: .relaxed)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// The orders, newest first.
  var all: [Order] { orders.withLock { $0.reversed() } }

  /// Orders smaller versions of the file; if it is already waiting, returns that order.
  ///
  /// - Throws: `Problem` if too many orders wait.
  func add(_ segments: [String]) throws -> Order {
    let order = Order(segments)
    let (known, isFull) = orders.withLock { orders -> (Order?, Bool) in
      let open = orders.filter { [.waiting, .making].contains($0.state) }
      if let known = open.first(where: { $0.segments == segments }) { return (known, false) }
      let waiting = open.filter { $0.state == .waiting }.count
      guard waiting < limit else { return (nil, true) }
      // The later order of a file replaces the earlier one.
      orders.removeAll { $0.segments == segments }
      orders.append(order)
      let over = orders.count { [.made, .failed].contains($0.state) } - Self.remembered
      for _ in 0..<max(0, over) {
        if let old = orders.firstIndex(where: { [.made, .failed].contains($0.state) }) {
          orders.remove(at: old)
        }
      }
      return (nil, false)
    }
    if let known { return known }
    guard !isFull, pool.run({ [self] in work(on: segments) }) else {
      if !isFull { orders.withLock { $0.removeAll { $0.segments == segments } } }
      throw Problem(
        .overloaded, .serviceUnavailable,
        "\(limit) files already wait for smaller versions (--waiting-renditions).")
    }
    return order
  }

  /// Cancels the current order, and drops the others.
  func stop() {
    cancellation.cancel()
    pool.wait()
  }

  private func change(_ segments: [String], _ body: (inout Order) -> Void) {
    orders.withLock { orders in
      if let index = orders.firstIndex(where: { $0.segments == segments }) { body(&orders[index]) }
    }
  }

  private func work(on segments: [String]) {
    guard !cancellation.isCancelled else { return }
    change(segments) { $0.state = .making }
    let path = MediaAddresses.served.urls(of: segments)[0]
    do {
      var indexer = MediaIndexer(
        storage, addresses: .served, store: store, probe: probe, jobs: 1)
      indexer.maker = try RenditionMaker(probe: probe, limits: limits)
      var problem: String?
      let addition = try indexer.run(
        [.file(segments)],
        onRemark: { remark in
          if case .problem(_, let reason) = remark { problem = problem ?? reason }
        }, onProgress: { _ in })
      guard !cancellation.isCancelled else { return }
      change(segments) { order in
        (order.made, order.kept, order.dropped) = (
          addition.renditionsMade, addition.renditionsKept, addition.renditionsDropped
        )
        let hasFailed = addition.failed + addition.renditionsFailed > 0 || problem != nil
        order.state = hasFailed ? .failed : .made
        order.problem = problem
      }
      logger.notice(
        "smaller versions of a media file made",
        metadata: [
          "file": "\(path)", "made": .stringConvertible(addition.renditionsMade),
          "failed": .stringConvertible(addition.renditionsFailed),
        ])
    } catch {
      guard !cancellation.isCancelled else { return }
      logger.warning(
        "cannot make smaller versions of a media file: \(error)", metadata: ["file": "\(path)"])
      change(segments) { order in
        order.state = .failed
        order.problem = "\(error)"
      }
    }
  }
}
