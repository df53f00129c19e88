import Foundation

/// The requests of a store. Each transfer of its table is a task that makes one request after another until
/// all bytes are there, no reader wants them, or a retry is useless.
extension RangeStore {
  func begin(_ transfer: Transfer) {
    tasks[transfer.id] = Task { await run(transfer) }
  }

  /// Ends a transfer that the table no longer has.
  func end(_ transfer: Transfer) {
    tasks.removeValue(forKey: transfer.id)?.cancel()
    waitingForPlace.removeValue(forKey: transfer.id)?.resume()
  }

  private func run(_ transfer: Transfer) async {
    await takePlace(transfer)
    var failures = 0
    while let before = table[transfer.id], before.position < end(of: before) {
      do throws(RangeStoreError) {
        try await exchange(before)
        failures = 0
      } catch {
        guard let now = table[transfer.id] else { break }
        failures = now.position > before.position ? 1 : failures + 1
        guard let wait = wait(behind: error, failures: failures) else {
          fail(now, error)
          break
        }
        try? await Task.sleep(for: .milliseconds(wait))
      }
    }
    table.remove(transfer.id)
    tasks[transfer.id] = nil
    leavePlace()
    wake(transfer.url)
  }

  /// The end of the transfer: at most the end of the file, if that is known.
  func end(of transfer: Transfer) -> Int {
    min(transfer.end, kept[transfer.url]?.file.version.bytes ?? .max)
  }

  /// The delay before the next attempt in milliseconds; `nil` if there is none.
  private func wait(behind error: RangeStoreError, failures: Int) -> Int? {
    guard error.isTransient, failures <= limits.retries else { return nil }
    let asked = error.retryAfterMilliseconds ?? 0
    guard asked <= limits.longestRetryMilliseconds else { return nil }
    let doubled = limits.retryMilliseconds << min(failures - 1, 16)
    return max(asked, min(doubled, limits.longestRetryMilliseconds))
  }

  // MARK: Places

  private func takePlace(_ transfer: Transfer) async {
    if placesTaken >= limits.parallelTransfers, transfer.priority < .urgent,
      table[transfer.id] != nil
    {
      await withCheckedContinuation { waitingForPlace[transfer.id] = $0 }
    }
    placesTaken += 1
  }

  /// Starts the reading's waiting transfers beyond the limit of places, because the reading has become
  /// urgent.
  func admit(_ reading: Int) {
    for id in waitingForPlace.keys where table[id]?.readings.contains(reading) == true {
      waitingForPlace.removeValue(forKey: id)?.resume()
    }
  }

  private func leavePlace() {
    placesTaken -= 1
    guard placesTaken < limits.parallelTransfers else { return }
    let next = waitingForPlace.keys.compactMap { table[$0] }
      .max { ($0.priority, $1.id) < ($1.priority, $0.id) }
    if let next { waitingForPlace.removeValue(forKey: next.id)?.resume() }
  }

  // MARK: One request

  /// Requests the rest of the transfer once, and keeps the bytes that arrive.
  private func exchange(_ transfer: Transfer) async throws(RangeStoreError) {
    let known = kept[transfer.url]?.file.version
    let (answer, range) = try await ask(
      transfer.url, from: transfer.position, to: transfer.end, ifRange: known)
    defer { observer?(.ended(url: transfer.url)) }
    guard table[transfer.id] != nil else { return answer.body.cancel() }
    guard let version = range.version else {
      answer.body.cancel()
      throw .notKept("the answer has no strong validator, or no size")
    }
    do throws(RangeStoreError) {
      try kept.begin(
        KeptFile(url: transfer.url, version: version, mimeType: range.mimeType))
      wake(transfer.url)
      try await keep(answer.body, from: range, of: version, transfer)
    } catch {
      answer.body.cancel()
      throw error
    }
  }

  private func keep(
    _ body: any TransportBody, from range: RangeAnswer, of version: FileVersion,
    _ transfer: Transfer
  ) async throws(RangeStoreError) {
    var offset = range.start
    let end = range.end ?? version.bytes
    while let bytes = try await body.nextBytes() {
      guard offset + bytes.count <= end else {
        throw .malformedAnswer("more bytes than its head states")
      }
      // Another answer brought another version meanwhile: these bytes are useless.
      guard kept[transfer.url]?.file.version == version else {
        throw .transport(.cut("the file changed"))
      }
      let new = try kept.keep(bytes, at: offset, of: transfer.url)
      let arrived = offset..<offset + bytes.count
      offset = arrived.upperBound
      observer?(.arrived(url: transfer.url, range: arrived, newBytes: new))
      let isWanted = table.advance(transfer.id, to: offset)
      wake(transfer.url)
      // An answer that arrived whole is read to its end, so that its connection can be reused.
      if !isWanted, offset < end { return body.cancel() }
    }
    guard offset >= end else { throw .transport(.cut("\(offset) of \(end) bytes received")) }
  }

  /// Sends a request for bytes of a file and reads the answer's head.
  private func ask(
    _ name: String, from start: Int, to end: Int?, ifRange version: FileVersion?
  ) async throws(RangeStoreError) -> (TransportAnswer, RangeAnswer) {
    guard let url = URL(string: name) else { throw .malformedAnswer("\(name) is not a URL") }
    var fields = [
      ("Range", "bytes=\(start)-" + (end.map { "\($0 - 1)" } ?? "")),
      ("Accept-Encoding", "identity"),
    ]
    if let version { fields.append(("If-Range", version.ifRange)) }
    let sent = ContinuousClock.now
    observer?(.asked(url: name))
    let answer: TransportAnswer
    do throws(TransportError) {
      answer = try await transport.answer(
        to: TransportRequest(url, fields: fields, timeoutMilliseconds: limits.timeoutMilliseconds))
    } catch {
      observer?(.ended(url: name))
      throw error == .cancelled ? .cancelled : .transport(error)
    }
    observer?(.answered(url: name, after: .now - sent))
    do throws(RangeStoreError) {
      let range = try RangeAnswer(
        status: answer.status, fields: answer.fields, start: start, end: end)
      return (answer, range)
    } catch {
      answer.body.cancel()
      observer?(.ended(url: name))
      throw error
    }
  }

  // MARK: Bytes that are not kept

  /// Requests the size and type of a file of which no bytes can be kept.
  func probe(_ url: String) async throws(RangeStoreError) -> MediaInformation {
    let (answer, range) = try await ask(url, from: 0, to: 2, ifRange: nil)
    answer.body.cancel()
    observer?(.ended(url: url))
    return MediaInformation(
      bytes: range.fileBytes, mimeType: range.mimeType, acceptsRanges: answer.status == 206)
  }

  /// Requests bytes of a file that are passed through.
  func direct(
    _ url: String, from start: Int, to end: Int?, version: FileVersion?
  ) async throws(RangeStoreError) -> DirectBytes {
    let (answer, range) = try await ask(url, from: start, to: end, ifRange: version)
    // The request counts as ended: the reader may be slow, which says nothing about the link.
    observer?(.ended(url: url))
    if let version, range.version != version {
      answer.body.cancel()
      throw .changed
    }
    return DirectBytes(body: answer.body, range: range, from: start, to: end)
  }
}

extension TransportBody {
  /// The next bytes. Errors are mapped to the store's.
  func nextBytes() async throws(RangeStoreError) -> [UInt8]? {
    do throws(TransportError) {
      return try await next()
    } catch {
      throw error == .cancelled ? .cancelled : .transport(error)
    }
  }
}
