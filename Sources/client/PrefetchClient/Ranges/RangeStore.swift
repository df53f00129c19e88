import Foundation

/// Keeps ranges of files, on disk or in memory, and answers any range of any file from what is there; the rest
/// it fetches.
///
/// What platforms keep are whole answers; a 206 they throw away. This keeps what every answer brought, joins
/// it, and hands it out again: to a player that probes with two bytes, asks for all, stops, and asks for the
/// tail; to the prefetcher that wants the start of a clip; to both at once, over one request where they want
/// the same bytes.
///
/// Every byte is right or there is an error. Bytes are kept under a strong validator and the file's size
/// (`FileVersion`); requests that go on with a file carry `If-Range`; when the server's file is another one,
/// what was kept goes, and a reader that has had bytes of it is told (`RangeStoreError.changed`). Answers
/// without a validator are handed through and not kept.
public actor RangeStore {
  let transport: any Transport
  let limits: RangeStoreLimits
  var kept: KeptFiles
  var table = TransferTable()
  /// The requests of transfers.
  var tasks: [Int: Task<Void, Never>] = [:]
  /// Transfers that wait for one of the few places, and those that have one.
  var waitingForPlace: [Int: CheckedContinuation<Void, Never>] = [:]
  var placesTaken = 0
  var observer: (@Sendable (RangeStoreEvent) -> Void)?

  private var readings: [Int: Reading] = [:]
  private var lastReading = 0

  /// Somebody who wants bytes of a file.
  private struct Reading {
    let url: String
    /// Of which version it has had bytes.
    var version: FileVersion?
    /// How a transfer ended that it waited for.
    var failure: RangeStoreError?
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// A store in memory.
  public init(transport: any Transport, limits: RangeStoreLimits = RangeStoreLimits()) {
    self.transport = transport
    self.limits = limits
    kept = KeptFiles(limits: limits)
  }

  /// A store in a folder, which is its own, with what an earlier one left there.
  ///
  /// - Throws: `RangeStoreError.folderInUse` where another store has the folder open, in this process or in
  ///   another one.
  public init(
    folder: URL, transport: any Transport, limits: RangeStoreLimits = RangeStoreLimits()
  ) throws(RangeStoreError) {
    self.transport = transport
    self.limits = limits
    kept = try KeptFiles(folder: folder.path, limits: limits)
  }

  // MARK: What a player needs

  /// Bytes of a file from an offset on, up to `end` or to the file's end, as they come. What ends early, the
  /// loop or its task, ends the request, too, if no other reader wants it; what came is kept.
  ///
  /// - Parameter priority: a player waits, and so this goes first.
  public nonisolated func bytes(
    of url: URL, from start: Int = 0, to end: Int? = nil, priority: RangePriority = .urgent
  ) -> MediaBytes {
    MediaBytes(store: self, url: url.absoluteString, start: start, end: end, priority: priority)
  }

  /// The size and type of a file; the first bytes come along where it is not known yet.
  public func information(of url: URL) async throws(RangeStoreError) -> MediaInformation {
    let name = url.absoluteString
    let reading = register(name)
    defer { leave(reading) }
    if kept[name] == nil {
      // Who only asks for the size leaves as soon as the answer's head is there: this reads on.
      Task { try? await fetch(url, from: 0, to: limits.probeBytes, priority: .urgent) }
    }
    while true {
      if let file = kept[name]?.file {
        return MediaInformation(
          bytes: file.version.bytes, mimeType: file.mimeType, acceptsRanges: true)
      }
      do throws(RangeStoreError) {
        try await want(0, to: limits.probeBytes, by: reading, .urgent)
      } catch .notKept {
        return try await probe(name)
      } catch .beyondEnd(fileBytes: 0) {
        return MediaInformation(bytes: 0, mimeType: nil, acceptsRanges: true)
      }
    }
  }

  // MARK: What the prefetcher needs

  /// Fetches what is not there of a range, up to `end` or to the file's end, and keeps it. Cancelling the task
  /// ends it; what came is kept.
  ///
  /// - Throws: `RangeStoreError`; `.notKept` where bytes of this file cannot be kept.
  public func fetch(
    _ url: URL, from start: Int, to end: Int?, priority: RangePriority
  ) async throws(RangeStoreError) {
    let name = url.absoluteString
    let reading = register(name)
    defer { leave(reading) }
    var position = start
    while true {
      if let entry = kept[name] {
        let stop = min(end ?? entry.file.version.bytes, entry.file.version.bytes)
        position = entry.held.run(from: position)?.upperBound ?? position
        if position >= stop { return }
      }
      do throws(RangeStoreError) {
        try await want(position, to: end, by: reading, priority)
      } catch .beyondEnd(let bytes) {
        if let bytes, bytes <= position { return }
        throw .beyondEnd(fileBytes: bytes)
      }
    }
  }

  /// Which bytes of a file are there.
  public func held(of url: URL) -> ByteRangeSet { kept[url.absoluteString]?.held ?? ByteRangeSet() }

  /// The version of which bytes are kept; `nil` where none are.
  public func version(of url: URL) -> FileVersion? { kept[url.absoluteString]?.file.version }

  /// Lets go of bytes of a file.
  public func discard(_ range: Range<Int>, of url: URL) {
    kept.discard(range, of: url.absoluteString)
  }

  /// How many bytes and files take room.
  public var usage: (bytes: Int, files: Int) { (kept.bytes, kept.count) }

  /// Has `observe` called, on the store's own executor, with everything that crosses the network.
  public func setObserver(_ observe: (@Sendable (RangeStoreEvent) -> Void)?) { observer = observe }

  // MARK: Readings

  func register(_ url: String) -> Int {
    lastReading += 1
    readings[lastReading] = Reading(url: url)
    kept.pin(url)
    return lastReading
  }

  func leave(_ reading: Int) {
    guard let ended = readings.removeValue(forKey: reading) else { return }
    ended.waiting?.resume()
    kept.unpin(ended.url)
    let left = table.leave(reading) { $0.position >= end(of: $0) }
    for transfer in left { end(transfer) }
  }

  /// What a reading does next.
  enum Step {
    case bytes([UInt8])
    case end
    /// What it wants cannot be kept: it asks the server itself, for this version if it had some already.
    case direct(FileVersion?)
  }

  func step(
    _ reading: Int, at position: Int, to end: Int?, _ priority: RangePriority
  ) async throws(RangeStoreError) -> Step {
    while let url = readings[reading]?.url {
      if Task.isCancelled { throw .cancelled }
      if let entry = kept[url] {
        let version = entry.file.version
        if let had = readings[reading]?.version, had != version { throw .changed }
        let stop = min(end ?? version.bytes, version.bytes)
        guard position < stop else {
          if position > version.bytes { throw .beyondEnd(fileBytes: version.bytes) }
          return .end
        }
        if let run = entry.held.run(from: position) {
          let most = min(run.upperBound, stop, position + limits.readBytes)
          if let bytes = kept.read(position..<most, of: url) {
            readings[reading]?.version = version
            return .bytes(bytes)
          }
          continue
        }
      } else if let end, position >= end {
        return .end
      }
      do throws(RangeStoreError) {
        try await want(position, to: end, by: reading, priority)
      } catch .notKept {
        return .direct(readings[reading]?.version)
      } catch .beyondEnd(let bytes) {
        if bytes == position { return .end }
        throw .beyondEnd(fileBytes: bytes)
      }
    }
    throw .cancelled
  }

  /// Waits for something to have changed about the byte at `position`, which is not there, and has it fetched
  /// if no transfer does.
  private func want(
    _ position: Int, to wantedEnd: Int?, by reading: Int, _ priority: RangePriority
  ) async throws(RangeStoreError) {
    guard let url = readings[reading]?.url, !Task.isCancelled else { throw .cancelled }
    guard position >= 0, position < RangeAnswer.fileByteLimit else {
      throw .beyondEnd(fileBytes: nil)
    }
    var end = min(wantedEnd ?? .max, position + limits.requestBytes)
    if let entry = kept[url] {
      end = min(end, entry.file.version.bytes)
      end = entry.held.firstGap(in: position..<max(end, position + 1))?.upperBound ?? end
    }
    let new = table.want(
      position, to: end, of: url, by: reading, priority: priority, joinBytes: limits.joinBytes)
    if let new { begin(new) } else if priority == .urgent { admit(reading) }
    await withTaskCancellationHandler {
      await withCheckedContinuation { readings[reading]?.waiting = $0 }
    } onCancel: {
      Task { await self.wake(reading) }
    }
    guard !Task.isCancelled else { throw .cancelled }
    if let failure = readings[reading]?.failure {
      readings[reading]?.failure = nil
      throw failure
    }
  }

  private func wake(_ reading: Int) {
    let waiting = readings[reading]?.waiting
    readings[reading]?.waiting = nil
    waiting?.resume()
  }

  /// Has all readings of the file look again.
  func wake(_ url: String) {
    for (id, reading) in readings where reading.url == url { wake(id) }
  }

  /// Tells the transfer's readings that it failed.
  func fail(_ transfer: Transfer, _ error: RangeStoreError) {
    for reading in transfer.readings { readings[reading]?.failure = error }
  }
}
