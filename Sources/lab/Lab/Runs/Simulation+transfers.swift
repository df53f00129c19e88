import Prefetch

/// The engine's requests, and the bytes that arrive.
extension Simulation {
  /// Whether the strategy decides with each piece that arrives. Ours does, and wants no more of what plays
  /// than it needs; the others wait for starts and ends, which are told anyway.
  var decidesWithEachPiece: Bool { engine.policy.strategy.decidesWithEachPiece }

  /// The number of bytes after which the engine is told of them, if nothing else requires it. For ours it is
  /// as much as clients read at once.
  private var toldBytes: Int { decidesWithEachPiece ? 8_192 : 65_536 }

  mutating func perform(_ action: PrefetchAction) {
    switch action.kind {
    case .fetch(let transfer): fetch(transfer, action.reason)
    case .cancel(let id):
      explain("cancel \(id): \(action.reason)")
      if let index = indexOfChunk(id) {
        transfers[index].isCancelled = true
      } else {
        stop(id)
        transfers.removeAll { $0.id == id }
      }
    case .pause(let id):
      explain("pause \(id): \(action.reason)")
      if indexOfChunk(id) == nil { stop(id) }
      if let index = transfers.firstIndex(where: { $0.id == id }) {
        transfers[index].isPaused = true
      }
    case .resume(let id):
      guard let index = transfers.firstIndex(where: { $0.id == id && $0.isPaused }) else { return }
      explain("resume \(id): \(action.reason)")
      transfers[index].isPaused = false
      timeline?.begin(id, of: transfers[index].item, at: link.nowMicroseconds / 1_000)
      guard indexOfChunk(id) == nil else { return }
      transfers[index].start = transfers[index].told
      request(transfers[index], priority: .ahead)
    case .askForPage(let place):
      explain("request the page \(place): \(action.reason)")
      ask(for: place)
    case .evict(let key, let range):
      explain("evict \(range) of \(key): \(action.reason)")
      evict(key, range)
    case .waitUntil(let milliseconds): timerMilliseconds = milliseconds
    case .showFrame(let id): if setup.feed.index(of: id) == step.index { noteFrame() }
    case .showPlaceholder, .ready: break
    }
  }

  private mutating func fetch(_ fetch: PrefetchTransfer, _ reason: PrefetchReason) {
    guard let item = setup.feed.index(of: fetch.item) else { return }
    let truth = setup.feed.items[item].media[fetch.media][fetch.variant]
    let start = min(fetch.start, truth.bytes)
    // Chunks are requested whole.
    let end = max(start, min(fetch.end ?? truth.bytes, truth.bytes))
    let transfer = Transfer(
      id: fetch.id, item: item,
      file: setup.feed.file(ofItem: item, media: fetch.media, variant: fetch.variant),
      key: fetch.key, start: start,
      end: truth.isChunked && end > start ? truth.requestEnd(from: end - 1, to: truth.bytes) : end,
      requestEnd: start, told: start)
    explain(
      "fetch \(fetch.id): \(start)..<\(transfer.end) of \(fetch.key) for \(fetch.item): \(reason)")
    transfers.append(transfer)
    timeline?.begin(fetch.id, of: item, at: link.nowMicroseconds / 1_000)
    request(transfer, priority: fetch.priority)
  }

  private mutating func request(_ transfer: Transfer, priority: PrefetchTransfer.Priority) {
    figures.requests += 1
    let end = file(transfer.file, of: transfer.item).requestEnd(
      from: transfer.start, to: transfer.end)
    if let index = transfers.firstIndex(where: { $0.id == transfer.id }) {
      transfers[index].askedMicroseconds = link.nowMicroseconds
      transfers[index].meteredBytes = nil
      transfers[index].requestEnd = end
    }
    link.start(
      transfer.id, bytes: end - transfer.start, priority: priority.rawValue, tellsHead: true)
    mark(transfer)
  }

  /// The index of the transfer if a chunk of it is in flight. A chunk arrives whole, whatever the engine
  /// wants meanwhile.
  private func indexOfChunk(_ id: Int) -> Int? {
    guard let index = transfers.firstIndex(where: { $0.id == id }), link.bytes(of: id) != nil else {
      return nil
    }
    return file(transfers[index].file, of: transfers[index].item).isChunked ? index : nil
  }

  /// Ends a transfer's request, and tells the engine of the bytes that have arrived by now.
  private mutating func stop(_ id: Int) {
    bring(id)
    endMetering(id, bytes: link.bytes(of: id))
    timeline?.finish(id, at: link.nowMicroseconds / 1_000, isWhole: false)
    let late = link.cancel(id)
    guard late > 0 else { return }
    figures.fetchedBytes += late
    explain("\(late) bytes of \(id) arrive anyway")
  }

  mutating func ask(for place: PrefetchPlace) {
    lastPage -= 1
    figures.requests += 1
    figures.pages += 1
    pages.append((lastPage, place))
    link.start(lastPage, bytes: engine.settings.pageBytes)
  }

  private mutating func evict(_ key: String, _ range: Range<Int>) {
    let numbers = key.split(separator: ".").compactMap { Int($0) }
    guard numbers.count == 3, setup.feed.items.indices.contains(numbers[0]) else { return }
    held[setup.feed.file(ofItem: numbers[0], media: numbers[1], variant: numbers[2])].remove(range)
  }

  // MARK: Arrivals

  mutating func take(_ event: LinkEvent) {
    if event.request < 0 {
      guard let index = pages.firstIndex(where: { $0.id == event.request }) else { return }
      let place = pages.remove(at: index).place
      return event.isTimedOut ? pageFailed(place) : pageArrived(place)
    }
    guard let index = transfers.firstIndex(where: { $0.id == event.request }) else { return }
    if event.isHead { return beginMetering(index) }
    guard event.isFinished || event.isTimedOut else {
      arrived(index, bytes: event.bytes)
      // In response, the engine may have ended the transfer.
      if let index = transfers.firstIndex(where: { $0.id == event.request && !$0.isPaused }) {
        mark(transfers[index])
      }
      return
    }
    let id = transfers[index].id
    let measurement = endMetering(id, bytes: event.bytes)
    let isPart = event.isFinished && transfers[index].requestEnd < transfers[index].end
    arrived(index, bytes: event.bytes)
    if isPart {
      tell(measurement)
      return requestNext(id)
    }
    transfers.removeAll { $0.id == id }
    timeline?.finish(id, at: link.nowMicroseconds / 1_000, isWhole: event.isFinished)
    if event.isTimedOut {
      figures.timeouts += 1
      explain("\(id) timed out")
      return tell(.transferFailed(id, .network))
    }
    tell(.transferFinished(id))
    tell(measurement)
  }

  /// Requests the next chunk of a transfer, unless the engine has ended it because of what arrived.
  private mutating func requestNext(_ id: Int) {
    guard
      let index = transfers.firstIndex(where: { $0.id == id && !$0.isPaused && !$0.isCancelled })
    else { return transfers.removeAll { $0.id == id && $0.isCancelled } }
    transfers[index].start = transfers[index].told
    request(transfers[index], priority: transfers[index].item == step.index ? .active : .ahead)
  }

  /// Takes the bytes of a transfer that have arrived, without waiting for a mark.
  mutating func bring(_ id: Int) {
    guard let index = transfers.firstIndex(where: { $0.id == id && !$0.isPaused }),
      let bytes = link.bytes(of: id)
    else { return }
    arrived(index, bytes: bytes)
  }

  private mutating func arrived(_ index: Int, bytes: Int) {
    let transfer = transfers[index]
    let range = transfer.told..<max(transfer.told, transfer.start + bytes)
    guard !range.isEmpty else { return }
    transfers[index].told = range.upperBound
    figures.fetchedBytes += range.count
    held[transfer.file].insert(range)
    noteChunks(range, transfer)
    explain("\(range.count) bytes of \(transfer.key), up to \(range.upperBound)")
    see(transfer.item)
    tell(.bytesArrived(transfer: transfer.id, key: transfer.key, range))
  }

  /// Notes the complete chunks whose last byte is in this range.
  private mutating func noteChunks(_ range: Range<Int>, _ transfer: Transfer) {
    let truth = file(transfer.file, of: transfer.item)
    guard truth.isChunked else { return }
    let variant = transfer.file - setup.feed.firstFiles[transfer.item]
    var came = chunks[transfer.item] ?? Array(repeating: nil, count: truth.secondBytes.count)
    for (chunk, end) in truth.secondBytes.enumerated()
    where end > range.lowerBound && end <= range.upperBound && came[chunk] == nil {
      let start = chunk == 0 ? 0 : truth.secondBytes[chunk - 1]
      if held[transfer.file].contains(start..<end) { came[chunk] = variant }
    }
    chunks[transfer.item] = came
  }

  /// Sets the byte at which the link reports the transfer: as soon as it starts its item, or lets it play on.
  mutating func mark(_ transfer: Transfer) {
    var byte = transfer.told + toldBytes
    let truth = file(transfer.file, of: transfer.item)
    // A chunk is useless before its end.
    guard !truth.isChunked else { return }
    for range in truth.startRanges
    where range.upperBound > transfer.told && range.lowerBound < transfer.end {
      byte = min(byte, range.upperBound)
    }
    if transfer.item == step.index, let needed = playback.standsUntilByte, needed > transfer.told {
      byte = min(byte, needed)
    }
    if byte < transfer.end { link.mark(transfer.id, bytes: byte - transfer.start) }
  }

  func file(_ place: Int, of item: Int) -> LabFile {
    var rest = place - setup.feed.firstFiles[item]
    for files in setup.feed.items[item].media {
      if rest < files.count { return files[rest] }
      rest -= files.count
    }
    preconditionFailure("a file of another item")
  }

  // MARK: The list

  private mutating func pageFailed(_ place: PrefetchPlace) {
    figures.timeouts += 1
    explain("the page \(place) timed out")
    // The viewer, who opens the feed, has requested the first page, not the engine.
    if phase == .opening {
      ask(for: place)
    } else {
      tell(.pageFailed(place, retryAfterMilliseconds: nil))
    }
  }

  private mutating func pageArrived(_ place: PrefetchPlace) {
    let (count, size) = (told.count, setup.feed.pageItems)
    let page: Range<Int>
    switch place {
    case .anew: (page, listed) = (0..<min(size, count), 0..<min(size, count))
    case .below:
      page = listed.upperBound..<min(listed.upperBound + size, count)
      listed = listed.lowerBound..<page.upperBound
    case .above:
      page = max(0, listed.lowerBound - size)..<listed.lowerBound
      listed = page.lowerBound..<listed.upperBound
    case .around(let distance):
      let middle = min(max(active + distance, 0), count - 1)
      let start = max(0, min(middle - size / 2, count - size))
      page = start..<min(start + size, count)
      listed = page
    }
    explain("the page of items \(page)")
    tell(
      .pageArrived(
        place, items: Array(told[page]), hasPrevious: listed.lowerBound > 0,
        hasNext: listed.upperBound < count))
    switch phase {
    case .opening: setOut()
    case .atEnd: arrive()
    default: break
    }
  }
}
