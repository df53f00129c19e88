import Feed
import Prefetch

/// A clip that plays as its bytes allow: pure. It starts when what starts it is there, and stops where the next
/// bytes are not, until they are.
struct ClipPlayback {
  /// What is known of the clip.
  let load: MediaLoad
  /// How far it has played.
  private(set) var milliseconds = 0
  /// Whether it has started.
  private(set) var hasStarted = false
  /// Whether it stands since its bytes ran out.
  private(set) var isStalled = false
  /// How often it did, and for how long together.
  private(set) var stalls = 0
  private(set) var stalledMilliseconds = 0

  /// So much of what comes next is there whenever it plays.
  static let stepMilliseconds = 100

  init(_ load: MediaLoad) { self.load = load }

  /// A step of time has passed.
  ///
  /// - Parameters:
  ///   - prefix: up to where all bytes of the file are there.
  ///   - isReady: what starts it is there.
  /// - Returns: what a player would say; `nil` where nothing is new.
  mutating func pass(prefix: Int, isReady: Bool) -> PrefetchEvent.Playback? {
    guard hasStarted else {
      hasStarted = isReady
      return isReady ? .playing : nil
    }
    let wasStalled = isStalled
    if let duration = load.durationMilliseconds, milliseconds >= duration { return nil }
    let needed = load.bytes(throughMilliseconds: milliseconds + Self.stepMilliseconds)
    isStalled = needed.map { prefix < $0 } ?? false
    if isStalled {
      stalledMilliseconds += Self.stepMilliseconds
      if !wasStalled { stalls += 1 }
    } else {
      milliseconds += Self.stepMilliseconds
    }
    return isStalled == wasStalled ? nil : isStalled ? .paused : .playing
  }
}
