import Prefetch

/// The state of the playing clip.
struct PlaybackState: Hashable, Sendable {
  /// The time of the next check, when the bytes that are there run out; `Int.max` if no clip plays, or it
  /// waits for bytes or cannot run out.
  var nextMicroseconds = Int.max
  /// The time in the clip up to which it has played.
  var milliseconds = 0
  /// The time for which it has played, including loops.
  var playedMilliseconds = 0
  /// The time at which it came there, or since which it stands.
  var sinceMicroseconds = 0
  /// The number of first bytes that must be there before it moves; `nil` while it plays.
  var standsUntilByte: Int?
  /// The time for which a viewer who watches playback continues to look once it plays.
  var restMicroseconds = 0
  /// Whether it has moved: standing from then on is a stall.
  var hasMoved = false
  /// Whether the engine knows that it is looked at.
  var isTold = false
  /// The file that plays, and its index among all files; `nil` if none does.
  var file: LabFile?
  var place = 0
}

/// Clips play as in players: the first frame shows as soon as it is there; a clip moves once a buffer of what
/// comes next is there, plays to the last byte that is there, and then stands until the buffer is there
/// again.
extension Simulation {
  /// The buffer that a player needs before it begins and after it ran out: that of Media3 for local playback
  /// (`DefaultLoadControl`, 1000 ms each).
  static let playerBufferMilliseconds = 1_000

  /// Begins to play the clip of the active item, as soon as its decoder has started.
  mutating func beginPlayback() {
    let item = setup.feed.items[step.index]
    guard let clip = item.media.first, clip[0].isClip else { return }
    let first = setup.feed.firstFiles[step.index]
    // The best variant that starts.
    let variant = clip.indices.first { variant in
      clip[variant].startRanges.allSatisfy { held[first + variant].contains($0) }
    }
    guard let variant else { return }
    playback = PlaybackState()
    playback.file = clip[variant]
    playback.place = first + variant
    playback.sinceMicroseconds =
      link.nowMicroseconds + engine.settings.decoderStartMilliseconds * 1_000
    stand()
    playOn()
  }

  /// Continues playback: the available bytes have been played, or bytes have arrived that may end a
  /// standstill.
  mutating func playOn() {
    guard let file = playback.file else { return }
    let now = link.nowMicroseconds
    bringPlaying()
    let prefix = playablePrefix(file)
    let passed = max(0, now - playback.sinceMicroseconds)
    let time = passed / 1_000
    if let needed = playback.standsUntilByte {
      guard prefix >= needed else { return }
      stood(passed)
      playback.hasMoved = true
      playback.sinceMicroseconds = max(now, playback.sinceMicroseconds)
      if setup.viewer.watchesPlayback, case .looking = phase {
        phase = .looking(
          untilMicroseconds: playback.sinceMicroseconds + playback.restMicroseconds)
      }
      playback.standsUntilByte = nil
      if playback.isTold { moved(.playing, "plays after \(time) ms") }
    } else {
      playback.milliseconds += time
      playback.playedMilliseconds += time
      playback.sinceMicroseconds += time * 1_000
    }
    // A clip that is there as a whole plays in a loop.
    guard prefix < file.bytes else {
      playback.nextMicroseconds = .max
      return
    }
    let left = file.milliseconds(throughBytes: prefix) - playback.milliseconds
    if left > 0 {
      playback.nextMicroseconds = playback.sinceMicroseconds + left * 1_000
    } else {
      figures.stalls += 1
      stand()
      playback.isTold = true
      moved(.paused, "stops at \(playback.milliseconds) ms")
    }
  }

  /// The number of first bytes of the clip that can play; for a clip in chunks, as far as chunks of any
  /// variant go.
  private func playablePrefix(_ file: LabFile) -> Int {
    guard file.isChunked, let came = chunks[step.index] else { return held[playback.place].prefix }
    let count = came.firstIndex { $0 == nil } ?? came.count
    return count == 0 ? 0 : file.secondBytes[count - 1]
  }

  private mutating func notePlayed() {
    guard let file = playback.file, playback.playedMilliseconds > 0 else { return }
    guard file.isChunked, let came = chunks[step.index] else {
      return notePlayed(playback.playedMilliseconds, of: file)
    }
    let variants = setup.feed.items[step.index].media[0]
    for start in stride(from: 0, to: playback.playedMilliseconds, by: 1_000) {
      let variant = came[start / 1_000 % came.count] ?? 0
      notePlayed(min(1_000, playback.playedMilliseconds - start), of: variants[variant])
    }
  }

  private mutating func notePlayed(_ milliseconds: Int, of file: LabFile) {
    // Bits a millisecond are kilobits a second.
    let kilobits = file.bytes * 8 / max(1, file.durationMilliseconds)
    figures.playedMilliseconds += milliseconds
    figures.playedKilobits += Double(kilobits * milliseconds) / 1_000
    if let last = lastKilobitsPerSecond {
      figures.switchedKilobitsPerSecond += abs(kilobits - last)
    }
    lastKilobitsPerSecond = kilobits
  }

  private mutating func stood(_ microseconds: Int) {
    if playback.hasMoved {
      figures.stalledMicroseconds += microseconds
    } else {
      figures.standingMicroseconds += microseconds
    }
  }

  /// Stops the clip until the player's buffer is there.
  private mutating func stand() {
    guard let file = playback.file else { return }
    playback.standsUntilByte = file.bytes(
      throughMilliseconds: playback.milliseconds + Self.playerBufferMilliseconds)
    playback.nextMicroseconds = .max
    if setup.viewer.watchesPlayback, case .looking(let until) = phase {
      let since = max(link.nowMicroseconds, playback.sinceMicroseconds)
      playback.restMicroseconds = max(0, until - since)
      let patience = setup.viewer.patienceMilliseconds.map { since + $0 * 1_000 }
      phase = .looking(untilMicroseconds: patience ?? .max)
    }
    for transfer in transfers where transfer.file == playback.place && !transfer.isPaused {
      mark(transfer)
    }
  }

  /// Tells the engine from now on what the player does, because it knows that the viewer looks at the clip.
  mutating func tellPlayback() {
    guard playback.file != nil else { return }
    playback.isTold = true
    if playback.standsUntilByte == nil {
      moved(.playing, "plays")
    } else {
      moved(.paused, "stands at its first frame")
    }
  }

  private mutating func moved(_ state: PrefetchEvent.Playback, _ words: String) {
    explain(words)
    tell(.playbackMoved(milliseconds: playback.milliseconds, state))
  }

  /// Takes the bytes of the playing file that have arrived, whether or not the engine was told.
  private mutating func bringPlaying() {
    for transfer in transfers where transfer.file == playback.place && !transfer.isPaused {
      if playback.file?.isChunked == false, let bytes = link.bytes(of: transfer.id), bytes > 0 {
        held[playback.place].insert(transfer.start..<transfer.start + bytes)
      }
    }
  }

  /// Ends playback, because the viewer no longer looks.
  mutating func endPlayback() {
    guard playback.file != nil else { return }
    let passed = max(0, link.nowMicroseconds - playback.sinceMicroseconds)
    if playback.standsUntilByte == nil {
      playback.playedMilliseconds += passed / 1_000
    } else {
      stood(passed)
    }
    watched[step.index] = max(watched[step.index], playback.playedMilliseconds)
    notePlayed()
    playback = PlaybackState()
  }
}
