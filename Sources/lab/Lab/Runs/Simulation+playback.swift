import Prefetch

/// The clip that plays.
struct PlaybackState: Hashable, Sendable {
  /// When it is next to be looked at: where what is there runs out; never where nothing plays, waits for bytes, or
  /// can run out.
  var nextMicroseconds = Int.max
  /// Up to where of the clip it has played.
  var milliseconds = 0
  /// How much of the time it has played, loops counted.
  var playedMilliseconds = 0
  /// When it came there, or since when it stands.
  var sinceMicroseconds = 0
  /// It stands until all bytes up to this one are there.
  var standsUntilByte: Int?
  /// For how long the person who watches playback looks on once it plays.
  var restMicroseconds = 0
  /// It has moved: where it stands from now on, that is a stall.
  var hasMoved = false
  /// The engine knows that it is looked at.
  var isTold = false
  /// The file that plays, and its place among all files; `nil` where none does.
  var file: LabFile?
  var place = 0
}

/// Clips play as players play them: their first frame is seen as soon as it is there; they move once so much of what
/// comes next is there, play to the last byte that is, and then stand until so much is there again.
extension Simulation {
  /// What a player wants to have before it begins and after it ran out: what Media3's does of a local playback
  /// (`DefaultLoadControl`, 1000 ms each).
  static let playerBufferMilliseconds = 1_000

  /// The clip of the active item begins to play as soon as its decoder has started.
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

  /// What is there has been played, or bytes have come that may end a standstill.
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
    // What is there as a whole is played again and again.
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

  /// How many of the first bytes of the clip are there that play: of one in chunks, as far as chunks of any variant go.
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

  /// The clip stands until a player has what it wants.
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

  /// The engine knows that the viewer looks at the clip: it is told what the player does from now on.
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

  /// What has come of what plays, told or not.
  private mutating func bringPlaying() {
    for transfer in transfers where transfer.file == playback.place && !transfer.isPaused {
      if playback.file?.isChunked == false, let bytes = link.bytes(of: transfer.id), bytes > 0 {
        held[playback.place].insert(transfer.start..<transfer.start + bytes)
      }
    }
  }

  /// The viewer looks no longer.
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
