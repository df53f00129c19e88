import Feed
import Prefetch

/// Plays a clip as far as its bytes allow, by the rules of the lab's player. Pure. The first frame shows when
/// the bytes that start the clip are there and the decoder has started. The clip moves once the next second
/// of it, or all of it, is there, plays to the last byte that is there, and then stalls until another second
/// is.
struct ClipPlayback {
  /// The facts about the clip.
  let load: MediaLoad
  /// The time in the clip.
  private(set) var milliseconds = 0
  /// The number of stalls after the clip had moved, and their total duration.
  private(set) var stalls = 0
  private(set) var stalledMilliseconds = 0
  /// The time from the first frame until the clip moved.
  private(set) var standingMilliseconds = 0
  /// The time for which it played, including repetitions from the beginning after the end.
  private(set) var playedMilliseconds = 0

  /// The number of kilobits played, by the file's mean bitrate.
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
  /// The state that was returned last.
  private var said: PrefetchEvent.Playback?
  private let decoderStartMilliseconds: Int

  /// The time that one call of `pass` stands for.
  static let stepMilliseconds = 20
  /// The buffer that a player needs before it begins and after it ran out: that of Media3 for local playback.
  private static let bufferMilliseconds = 1_000

  init(_ load: MediaLoad, decoderStartMilliseconds: Int) {
    self.load = load
    self.decoderStartMilliseconds = decoderStartMilliseconds
  }

  /// Lets a step of time pass.
  ///
  /// - Parameters:
  ///   - prefix: the number of first bytes of the file that are all there.
  ///   - isReady: whether the bytes that start it are there.
  /// - Returns: what a player would report; `nil` if nothing is new.
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

  /// Plays as soon as the buffer allows it.
  private mutating func move(_ prefix: Int) -> PrefetchEvent.Playback? {
    guard holds(Self.bufferMilliseconds, prefix) else { return nil }
    state = .playing
    return .playing
  }

  /// Whether this much of what comes next is there, or all of it; true for a clip of which nothing is known.
  private func holds(_ ahead: Int, _ prefix: Int) -> Bool {
    load.bytes(throughMilliseconds: milliseconds + ahead).map { prefix >= $0 } ?? true
  }
}
