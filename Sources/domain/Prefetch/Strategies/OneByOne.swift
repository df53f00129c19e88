import Feed

/// Queries for strategies that load one part after the other.
extension EngineFacts {
  /// The next items in the direction of the scroll, nearest first; the active one before them if
  /// `includesActive`.
  func next(_ count: Int, from active: Int, with includesActive: Bool = false) -> [Int] {
    ((includesActive ? 0 : 1)..<(count + 1)).map { active + $0 * viewer.direction }
      .filter { list.positions.contains($0) }
  }

  /// Whether all bytes of the item are held, as far as its sizes are known; of only its first `count` media,
  /// if given.
  func isWhole(_ position: Int, media count: Int = .max) -> Bool {
    list[position].media.prefix(count).allSatisfy { media in
      let file = files[media.slot]
      guard let bytes = file.file.load.bytes else { return list[position].isReady }
      return file.isGone || file.there.prefix >= bytes
    }
  }

  /// Whether this much playback of the item is held; of a picture, all of it. Unknown sizes count as held.
  func isHeld(_ position: Int, milliseconds: Int) -> Bool {
    list[position].media.prefix(visibleMedia(position)).allSatisfy { media in
      let file = files[media.slot]
      guard let all = file.file.load.bytes, !file.isGone else { return true }
      let wanted = file.file.load.kind.plays ? file.file.load.bytes(playing: milliseconds) : all
      return file.there.prefix >= min(wanted ?? 0, all)
    }
  }

  /// The item's single clip and its duration, if it is known how far its bytes play.
  func clip(_ position: Int) -> (file: FileState, milliseconds: Int)? {
    guard list[position].media.count == 1 else { return nil }
    let file = files[list[position].media[0].slot]
    guard file.file.load.kind.plays, file.file.load.timing?.isStartable != false,
      file.file.load.bytes != nil, let duration = file.file.load.durationMilliseconds, duration > 0
    else { return nil }
    return (file, duration)
  }

  /// The number of a clip's parts of this duration that are held, from its first byte on, and the number of
  /// all.
  func parts(
    of clip: (file: FileState, milliseconds: Int), each milliseconds: Int
  ) -> (held: Int, count: Int) {
    let count = (clip.milliseconds + milliseconds - 1) / milliseconds
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high + 1) / 2
      if clip.file.there.prefix >= end(ofPart: middle - 1, of: clip, each: milliseconds) {
        low = middle
      } else {
        high = middle - 1
      }
    }
    return (low, count)
  }

  /// Whether the active clip has stalled, holds no more than a player wants before it continues, and can be
  /// loaded now: the person waits for the next bytes, however few people watch that far.
  func isStarved(_ clip: (file: FileState, milliseconds: Int)) -> Bool {
    guard viewer.playback == .paused || viewer.playback == .waiting, !clip.file.isGone,
      clip.file.retryAt <= now
    else { return false }
    let wanted = min(playedMilliseconds + Self.playerBufferMilliseconds, clip.milliseconds)
    return clip.file.there.prefix < end(ofPart: 0, of: clip, each: wanted)
  }

  /// The end of a part of a clip; never before the end of its first frame.
  func end(
    ofPart part: Int, of clip: (file: FileState, milliseconds: Int), each milliseconds: Int
  ) -> Int {
    let load = clip.file.file.load
    let bytes = load.bytes(throughMilliseconds: (part + 1) * milliseconds) ?? load.bytes ?? 0
    return min(max(bytes, load.timing?.headBytes ?? 0), load.bytes ?? bytes)
  }

  /// The running transfer of these items, to its end: these strategies run one transfer at a time.
  func running(_ positions: [Int]) -> Want? { allRunning(positions).first?.want }

  /// The running transfers of these items, each to its end.
  func allRunning(_ positions: [Int]) -> [(transfer: Transfer, want: Want)] {
    transfers.compactMap { transfer in
      guard !transfer.isPaused, let position = transfer.position, positions.contains(position),
        let media = list[position].media.firstIndex(where: { $0.slot == transfer.slot })
      else { return nil }
      let want = Want(
        position: position,
        amount: transfer.end == Transfer.unknownEnd
          ? .entire : .bytes(media: media, 0..<transfer.end),
        reason: .near(distance: position - (viewer.active ?? position), bytes: 0))
      return (transfer, want)
    }
  }

  /// How many of a thousand people who begin to look at the item still do so after this time: by its survival
  /// curve, or without one, by the person's recent dwell times at such items.
  func permilleWatching(_ position: Int, atMilliseconds time: Int) -> Int {
    let survival = list[position].survival
    if !survival.isEmpty { return survival.permille(atMilliseconds: time) }
    let history = viewer.history
    let dwells = isClip(position) ? history.clipDwells : history.stillDwells
    return dwells.count { $0 > time } * 1_000 / max(1, dwells.count)
  }

  /// The bitrates of the clip's variants in kilobits a second, from the best to the smallest; `nil` if there
  /// is only one, or if any is unknown.
  func variantKbps(_ position: Int) -> [Int]? {
    guard let media = list[position].media.first, media.slots.count > 1 else { return nil }
    let rates = media.slots.compactMap { slot -> Int? in
      let load = files[slot].file.load
      guard let bytes = load.bytes, let duration = load.durationMilliseconds, duration > 0 else {
        return nil
      }
      return bytes * 8 / duration
    }
    return rates.count == media.slots.count ? rates : nil
  }
}

extension [WatchPoint] {
  /// How many of a thousand people still watch, linear between the points.
  func permille(atMilliseconds time: Int) -> Int {
    var before = WatchPoint(milliseconds: 0, permille: 1_000)
    for point in self {
      if point.milliseconds >= time {
        let span = Swift.max(1, point.milliseconds - before.milliseconds)
        return before.permille
          - (before.permille - point.permille) * (time - before.milliseconds) / span
      }
      before = point
    }
    return before.permille
  }
}
