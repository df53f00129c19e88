import Feed
import Prefetch

/// Events as they may come, in whatever order.
extension EngineClient {
  /// One more event, made of the choices, and what the engine says to it.
  mutating func step(_ random: inout some Choices) {
    now += random.once(in: 3) ? 0 : random.number(0...400)
    if let due = timer, due <= now {
      timer = nil
      tell(.timerFired)
      return
    }
    switch random.number(0...99) {
    case 0..<40: arrive(&random)
    case 40..<60: answerPage(&random)
    case 60..<78: move(&random)
    case 78..<82: fail(&random)
    case 82..<86: find(&random)
    default: change(&random)
    }
  }

  // MARK: Pages

  private mutating func answerPage(_ random: inout some Choices) {
    guard !pages.isEmpty || items.isEmpty else { return move(&random) }
    let place = pages.isEmpty ? .anew : pages.remove(at: random.number(0...pages.count - 1))
    if random.once(in: 6) {
      tell(
        .pageFailed(
          place, retryAfterMilliseconds: random.once(in: 2) ? nil : random.number(0...900))
      )
      return
    }
    let new = (0..<random.number(0...12)).map { _ in item(&random) }
    switch place {
    case .anew, .around: pages = []
    case .below, .above: break
    }
    tell(
      .pageArrived(
        place, items: new, hasPrevious: random.once(in: 3), hasNext: !random.once(in: 6)))
  }

  private mutating func item(_ random: inout some Choices) -> PrefetchItem {
    // Now and then one that is there already, said anew.
    let id = random.once(in: 12) ? "i\(random.number(0...20))" : "i\(items.count)"
    if let known = items[id] {
      for file in known.media.flatMap(\.files) {
        knownBytes[file.key] = file.load.bytes ?? knownBytes[file.key]
      }
      return known
    }
    let type = random.one(of: [.image, .video, .video, .carousel, .text, .ad] as [PostType])
    let count = type == .carousel ? random.number(1...4) : type == .text ? 0 : 1
    let item = PrefetchItem(
      id: id, type: type,
      media: (0..<count).map { media($0, id, type, &random) },
      expiresAtMilliseconds: random.once(in: 12) ? now + random.number(0...20_000) : nil,
      survival: random.once(in: 3)
        ? [.init(milliseconds: 500, permille: 700), .init(milliseconds: 4_000, permille: 100)] : [])
    items[id] = item
    return item
  }

  private mutating func media(
    _ index: Int, _ id: String, _ type: PostType, _ random: inout some Choices
  ) -> PrefetchMedia {
    let kind: MediaKind =
      type == .video || type == .carousel && random.once(in: 3) ? .video : .image
    // Few files are of several items, and what is said of a file is always the same.
    if random.once(in: 20), let shared = items.values.map(\.id).sorted().first,
      let media = items[shared]?.media.first
    {
      for file in media.files { knownBytes[file.key] = file.load.bytes ?? knownBytes[file.key] }
      return media
    }
    // Of chunks all variants have as many, but for a mistake.
    let chunk = kind == .video && random.once(in: 3) ? random.one(of: [1, 200, 700, 3_000]) : nil
    let duration = random.number(1...8_000)
    return PrefetchMedia(
      files: (0..<random.number(1...3)).map { variant in
        let key = "\(id)/\(index).\(variant)"
        let bytes = random.once(in: 20) ? 0 : random.number(1...6_000) / (variant + 1)
        fileBytes[key] = bytes
        held[key] = held[key] ?? Array(repeating: false, count: 12_000)
        var load = MediaLoad(kind: kind, bytes: random.once(in: 4) ? nil : bytes)
        if kind == .video {
          load.durationMilliseconds = random.once(in: 3) ? nil : random.number(0...8_000)
          if chunk != nil, !random.once(in: 20) {
            (load.bytes, load.durationMilliseconds) = (bytes, duration)
          }
          if load.bytes != nil, random.once(in: 2) {
            load.timing = .random(&random, bytes: bytes)
          }
        }
        knownBytes[key] = load.bytes
        return PrefetchFile(key: key, load: load, chunkMilliseconds: chunk)
      })
  }

  private static func shuffled(_ ids: [String], _ random: inout some Choices) -> [String] {
    var ids = ids
    for index in ids.indices.reversed() { ids.swapAt(index, random.number(0...index)) }
    return ids
  }

  // MARK: Bytes

  private mutating func arrive(_ random: inout some Choices) {
    if random.once(in: 10), !cancelled.isEmpty {
      // What was on the way when it was cancelled.
      let late = cancelled.removeFirst()
      let end = min(late.next + random.number(0...300), late.end)
      guard end > late.next, end <= fileBytes[late.transfer.key] ?? 0 else { return }
      return arrive(late.transfer, late.next..<end)
    }
    let ids = running.values.filter { !$0.isPaused }.map(\.transfer.id).sorted()
    guard !ids.isEmpty else { return move(&random) }
    let id = random.one(of: ids)
    guard let one = running[id] else { return }
    if one.transfer.end == nil, random.once(in: 2), let size = fileBytes[one.transfer.key],
      knownBytes[one.transfer.key] == nil
    {
      // The answer's head says how large the file is. Nothing of it arrives before.
      knownBytes[one.transfer.key] = size
      if one.next >= size { running[id] = nil }
      tell(.sizeLearned(key: one.transfer.key, bytes: size))
      return
    }
    let end = min(one.end, one.next + random.number(1...1_500))
    if end > one.next {
      running[id]?.next = end
      if end == one.end, one.transfer.end != nil || knownBytes[one.transfer.key] != nil {
        running[id] = nil
      }
      arrive(one.transfer, one.next..<end)
    }
    if let rest = running[id], rest.next >= rest.end, !rest.isPaused {
      running[id] = nil
      knownBytes[one.transfer.key] = fileBytes[one.transfer.key]
      tell(.transferFinished(id))
    }
  }

  private mutating func arrive(_ transfer: PrefetchTransfer, _ range: Range<Int>) {
    for byte in range { held[transfer.key]?[byte] = true }
    tell(.bytesArrived(transfer: transfer.id, key: transfer.key, range))
  }

  private mutating func find(_ random: inout some Choices) {
    let keys = knownBytes.keys.filter { knownBytes[$0] != nil }.sorted()
    guard !keys.isEmpty else { return }
    let key = random.one(of: keys)
    guard let size = fileBytes[key], size > 0, held[key] != nil,
      !running.values.contains(where: { $0.transfer.key == key })
    else { return }
    let start = random.number(0...size - 1)
    let range = start..<random.number(start...size)
    for byte in range { held[key]?[byte] = true }
    tell(.bytesFound(key: key, [range]))
  }

  private mutating func fail(_ random: inout some Choices) {
    guard let id = running.keys.sorted().first, let one = running.removeValue(forKey: id) else {
      return
    }
    let key = one.transfer.key
    failures[key] = now
    let failure = random.one(
      of: [
        .network, .busy(retryAfterMilliseconds: random.once(in: 2) ? nil : 700), .gone, .changed,
      ] as [TransferFailure])
    if failure == .gone { gone.insert(key) }
    if failure == .changed {
      knownBytes[key] = nil
      held[key] = held[key].map { $0.map { _ in false } }
    }
    tell(.transferFailed(id, failure))
  }

  // MARK: The person and the device

  private mutating func move(_ random: inout some Choices) {
    let known = items.keys.sorted()
    guard !known.isEmpty else { return }
    let active = engine.activeItem.flatMap { Int($0.dropFirst()) } ?? 0
    let number = active + random.one(of: [1, 1, 1, 1, 1, 2, -1, random.number(-9...9)])
    tell(.activeChanged("i\(max(0, number))"))
  }

  private mutating func change(_ random: inout some Choices) {
    switch random.number(0...14) {
    case 0...2:
      tell(
        .scrolled(
          milliitemsPerSecond: random.number(-9_000...9_000),
          stopDistance: random.once(in: 2) ? nil : random.number(-40...40)))
    case 3...4:
      tell(
        .bandwidthMeasured(
          kilobitsPerSecond: random.number(0...400),
          roundTripMilliseconds: random.once(in: 2) ? nil : random.number(0...900)))
    case 5:
      tell(
        .playbackMoved(
          milliseconds: random.number(0...9_000),
          random.one(of: PrefetchEvent.Playback.allCases)))
    case 6:
      isOnline = random.once(in: 3)
      isMetered = random.once(in: 3)
      tell(.networkChanged(isOnline: isOnline, isMetered: isMetered))
    case 7:
      isOnline = true
      tell(.networkChanged(isOnline: true, isMetered: isMetered))
    case 8:
      savesData = random.once(in: 2)
      tell(.saveDataChanged(savesData))
    case 9:
      isStressed = random.once(in: 2)
      tell(.stressChanged(isStressed))
    case 10:
      isInBackground = random.once(in: 4)
      tell(.backgroundChanged(isInBackground))
    case 11:
      if random.once(in: 3) { tell(.memoryWarned) }
    case 12:
      let known = items.keys.sorted()
      guard !known.isEmpty else { return }
      tell(.itemsRemoved([random.one(of: known), random.one(of: known)]))
    case 13:
      let known = items.keys.sorted().filter { _ in !random.once(in: 10) }
      tell(.itemsReordered(Self.shuffled(known, &random)))
    default:
      tell(.timerFired)
    }
  }
}
