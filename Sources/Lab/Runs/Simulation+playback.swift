import Prefetch

/// The clip that plays.
struct PlaybackState: Hashable, Sendable {
  /// When it is next to be looked at; never where nothing plays, or waits for bytes.
  var nextMicroseconds = Int.max
  /// Up to where of the clip it has played.
  var milliseconds = 0
  /// How much of the time it has played, loops counted.
  var playedMilliseconds = 0
  /// When it came there.
  var sinceMicroseconds = 0
  /// It has stopped until all bytes up to this one are there.
  var stalledUntilByte: Int?
  /// The file that plays, and its place among all files; `nil` where none does.
  var file: LabFile?
  var place = 0
}

/// Clips play in steps: at the end of each its bytes have to be there, or it stops until they are.
extension Simulation {
  private static let stepMilliseconds = 250

  /// The clip of the active item begins to play as soon as its decoder has started.
  mutating func beginPlayback() {
    let item = setup.feed.items[step.index]
    guard setup.viewer.playsClips, let clip = item.media.first, clip[0].isClip else { return }
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
    playback.nextMicroseconds =
      playback.sinceMicroseconds + stepLength * 1_000
  }

  /// How long the next step is: to the clip's end where all of it is there.
  private var stepLength: Int {
    guard let file = playback.file else { return 0 }
    let left = max(1, file.durationMilliseconds - playback.milliseconds)
    return held[playback.place].prefix >= file.bytes ? left : min(left, Self.stepMilliseconds)
  }

  /// A step has been played, or bytes have come that may end a stall.
  mutating func playOn() {
    guard let file = playback.file else { return }
    let now = link.nowMicroseconds
    if let needed = playback.stalledUntilByte {
      guard held[playback.place].prefix >= needed else { return }
      let stalled = (now - playback.sinceMicroseconds) / 1_000
      figures.stalledMilliseconds += stalled
      explain("plays on after \(stalled) ms")
      playback.stalledUntilByte = nil
      tell(.playbackMoved(milliseconds: playback.milliseconds, .playing))
    } else {
      let played = (now - playback.sinceMicroseconds) / 1_000
      playback.milliseconds += played
      playback.playedMilliseconds += played
    }
    playback.sinceMicroseconds = now
    if playback.milliseconds >= file.durationMilliseconds { playback.milliseconds = 0 }
    let end = min(playback.milliseconds + Self.stepMilliseconds, file.durationMilliseconds)
    let needed = file.bytes(throughMilliseconds: end)
    bringPlaying()
    if held[playback.place].prefix >= needed {
      playback.nextMicroseconds = now + stepLength * 1_000
    } else {
      stall(until: needed)
    }
  }

  private mutating func bringPlaying() {
    guard let place = playback.file.map({ _ in playback.place }) else { return }
    for transfer in transfers where transfer.file == place && !transfer.isPaused {
      if let bytes = link.bytes(of: transfer.id), bytes > 0 {
        held[place].insert(transfer.start..<transfer.start + bytes)
      }
    }
  }

  private mutating func stall(until byte: Int) {
    playback.stalledUntilByte = byte
    playback.nextMicroseconds = .max
    figures.stalls += 1
    let time = playback.milliseconds
    explain("stops at \(time) ms: \(byte) bytes are needed")
    for transfer in transfers where transfer.file == playback.place && !transfer.isPaused {
      mark(transfer)
    }
    tell(.playbackMoved(milliseconds: time, .paused))
  }

  /// The viewer looks no longer.
  mutating func endPlayback() {
    guard playback.file != nil else { return }
    let now = link.nowMicroseconds
    if playback.stalledUntilByte != nil {
      figures.stalledMilliseconds += (now - playback.sinceMicroseconds) / 1_000
    } else {
      playback.playedMilliseconds += max(0, now - playback.sinceMicroseconds) / 1_000
    }
    watched[step.index] = max(watched[step.index], playback.playedMilliseconds)
    playback = PlaybackState()
  }
}
