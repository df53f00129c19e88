import Feed
import Prefetch

/// A clip that plays as its bytes allow, by the rule of the lab's player: pure. Its first frame is seen when what
/// starts it is there and the decoder has started. It moves once the next second of it, or all of it, is there, plays
/// to the last byte that is, and then stands for another second of it.
struct ClipPlayback {
  /// What is known of the clip.
  let load: MediaLoad
  /// How far it has played.
  private(set) var milliseconds = 0
  /// How often it stopped after it had moved, and for how long together.
  private(set) var stalls = 0
  private(set) var stalledMilliseconds = 0
  /// How long it stood at its first frame before it moved.
  private(set) var standingMilliseconds = 0
  /// How much of the time it has played, again from its beginning once it has played to its end.
  private(set) var playedMilliseconds = 0

  /// How many kilobits that was, by the file's mean bitrate.
  var playedKilobits: Int {
    guard let bytes = load.bytes, let duration = load.durationMilliseconds, duration > 0 else {
      return 0
    }
    return bytes * 8 / duration * playedMilliseconds / 1_000
  }

  private enum State {
    case waiting, decoding(leftMilliseconds: Int), standing, playing, stalled
  }
  private var state = State.waiting
  /// What was said last.
  private var said: PrefetchEvent.Playback?
  private let decoderStartMilliseconds: Int

  /// So much time one call of `pass` is.
  static let stepMilliseconds = 20
  /// What a player wants to have before it begins and after it ran out: what Media3's does of a local playback.
  private static let bufferMilliseconds = 1_000

  init(_ load: MediaLoad, decoderStartMilliseconds: Int) {
    self.load = load
    self.decoderStartMilliseconds = decoderStartMilliseconds
  }

  /// A step of time has passed.
  ///
  /// - Parameters:
  ///   - prefix: up to where all bytes of the file are there.
  ///   - isReady: what starts it is there.
  /// - Returns: what a player would say; `nil` where nothing is new.
  mutating func pass(prefix: Int, isReady: Bool) -> PrefetchEvent.Playback? {
    guard let state = change(prefix, isReady), state != said else { return nil }
    said = state
    return state
  }

  private mutating func change(_ prefix: Int, _ isReady: Bool) -> PrefetchEvent.Playback? {
    switch state {
    case .waiting:
      guard isReady else { return nil }
      state = .decoding(leftMilliseconds: decoderStartMilliseconds)
      return holds(Self.bufferMilliseconds, prefix) ? .playing : .paused
    case .decoding(let left) where left > Self.stepMilliseconds:
      state = .decoding(leftMilliseconds: left - Self.stepMilliseconds)
      return nil
    case .decoding:
      state = .standing
      return move(prefix)
    case .standing:
      standingMilliseconds += Self.stepMilliseconds
      return move(prefix)
    case .stalled:
      stalledMilliseconds += Self.stepMilliseconds
      return move(prefix)
    case .playing:
      if let duration = load.durationMilliseconds, milliseconds >= duration {
        playedMilliseconds += Self.stepMilliseconds
        return nil
      }
      guard holds(Self.stepMilliseconds, prefix) else {
        stalls += 1
        stalledMilliseconds += Self.stepMilliseconds
        state = .stalled
        return .paused
      }
      milliseconds += Self.stepMilliseconds
      playedMilliseconds += Self.stepMilliseconds
      return nil
    }
  }

  /// It moves as soon as it may.
  private mutating func move(_ prefix: Int) -> PrefetchEvent.Playback? {
    guard holds(Self.bufferMilliseconds, prefix) else { return nil }
    state = .playing
    return .playing
  }

  /// Whether so much of what comes next is there, or all; of a clip of which nothing is known nothing is missed.
  private func holds(_ ahead: Int, _ prefix: Int) -> Bool {
    load.bytes(throughMilliseconds: milliseconds + ahead).map { prefix >= $0 } ?? true
  }
}
