import Foundation

/// A store of ranges of files, on disk or in memory. It answers any range of any file from kept bytes, and
/// fetches the rest.
///
/// Platforms keep whole answers and discard a 206. This store keeps the bytes of every answer, joins them,
/// and returns them again: to a player that probes with two bytes, requests the whole file, stops, and
/// requests the tail; to the prefetcher, which wants the start of a clip; to both at once, over one request
/// if they want the same bytes.
///
/// Every byte is right, or there is an error. Bytes are kept under a strong validator and the file's size
/// (`FileVersion`); requests that continue a file carry `If-Range`. If the server's file is another one, the
/// store removes the kept bytes, and a reader that has received some of them gets `RangeStoreError.changed`.
/// Answers without a validator are passed through and not kept.
public actor RangeStore {
  let transport: any Transport
  let limits: RangeStoreLimits
  var kept: KeptFiles
  var table = TransferTable()
  /// The tasks of the transfers.
  var tasks: [Int: Task<Void, Never>] = [:]
  /// The transfers that wait for a place among the parallel ones, and the number of places in use.
  var waitingForPlace: [Int: CheckedContinuation<Void, Never>] = [:]
  var placesTaken = 0
  var observer: (@Sendable (RangeStoreEvent) -> Void)?

  private var readings: [Int: Reading] = [:]
  private var lastReading = 0

  /// A reader of a file.
  private struct Reading {
    let url: String
    /// The version of the bytes that it has received.
    var version: FileVersion?
    /// The error of a transfer that it waited for.
    var failure: RangeStoreError?
    var waiting: CheckedContinuation<Void, Never>?
  }

  /// Creates a store in memory.
  public init(transport: any Transport, limits: RangeStoreLimits = RangeStoreLimits()) {
    self.transport = transport
    self.limits = limits
    kept = KeptFiles(limits: limits)
  }

  /// Opens a store in a folder of its own, with what an earlier store left there.
  ///
  /// - Throws: `RangeStoreError.folderInUse` if another store, in this process or another one, has the folder
  ///   open.
  public init(
    folder: URL, transport: any Transport, limits: RangeStoreLimits = RangeStoreLimits()
  ) throws(RangeStoreError) {
    self.transport = transport
    self.limits = limits
    kept = try KeptFiles(folder: folder.path, limits: limits)
  }

  // MARK: For players

  /// The bytes of a file from an offset up to `end`, or to the file's end, as they arrive. If the loop or its
  /// task ends early, so does the request, unless another reader wants it. Bytes that arrived are kept.
  ///
  /// - Parameter priority: urgent by default, because a player waits.
  public nonisolated func bytes(
    of url: URL, from start: Int = 0, to end: Int? = nil, priority: RangePriority = .urgent
  ) -> MediaBytes {
    MediaBytes(store: self, url: url.absoluteString, start: start, end: end, priority: priority)
  }

  /// The size and type of a file. If they are not known yet, the first bytes of the file are fetched as well.
  public func information(of url: URL) async throws(RangeStoreError) -> MediaInformation {
    let name = url.absoluteString
    let reading = register(name)
    defer { leave(reading) }
    if kept[name] == nil {
      // A caller that asks only for the size leaves at the answer's head: this task reads on.
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

  // MARK: For the prefetcher

  /// Fetches the absent bytes of a range, up to `end` or to the file's end, and keeps them. Cancelling the
  /// task ends the fetch; bytes that arrived are kept.
  ///
  /// - Throws: `RangeStoreError`; `.notKept` if bytes of this file cannot be kept.
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

  /// The kept ranges of a file.
  public func held(of url: URL) -> ByteRangeSet { kept[url.absoluteString]?.held ?? ByteRangeSet() }

  /// The version of the kept bytes; `nil` if there are none.
  public func version(of url: URL) -> FileVersion? { kept[url.absoluteString]?.file.version }

  /// Removes bytes of a file.
  public func discard(_ range: Range<Int>, of url: URL) {
    kept.discard(range, of: url.absoluteString)
  }

  /// The number of bytes and files that take space.
  public var usage: (bytes: Int, files: Int) { (kept.bytes, kept.count) }

  /// Sets the closure that the store calls, on its own executor, with every network event.
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

  /// The next step of a reading.
  enum Step {
    case bytes([UInt8])
    case end
    /// The bytes cannot be kept: the reading sends a request of its own, for this version if it has received
    /// bytes of it.
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

  /// Waits for a change concerning the byte at `position`, which is absent, and begins a transfer if none
  /// brings it.
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

  /// Wakes all readings of the file, so that they check again.
  func wake(_ url: String) {
    for (id, reading) in readings where reading.url == url { wake(id) }
  }

  /// Sets the error of the transfer's readings.
  func fail(_ transfer: Transfer, _ error: RangeStoreError) {
    for reading in transfer.readings { readings[reading]?.failure = error }
  }
}
