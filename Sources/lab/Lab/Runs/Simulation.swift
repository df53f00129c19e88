import PostJSON
import Prefetch

// `Lab` runs the engine of `Prefetch` against a simulated world. `Simulation` is one run: it asks
// the `Link`, the viewer, the engine's timer and what plays which of them is next, moves there,
// tells the engine, and does what it says. What follows from that is told after it, for the engine
// takes its actions for done. `Link` is a fluid whose rates are constant between events; all its
// amounts are whole numbers, so that a seed gives the same run on every machine. `LabRandom`
// splits: viewer, network, feed and the engine's futures have numbers of their own, so that all
// strategies see the same world. `Experiment` runs contestants on networks, repeat by repeat, on
// as many threads as whoever calls it brings; of each run only its figures stay. `Experiment.tune`
// finds the best of many settings on one half of the networks and judges it on the other;
// `LabReport` writes what was measured as one page, `Markup` and `ChartFrame` draw it.
// `SequentialInterval` and `Comparison` say what may be said of these.

/// One run: a viewer scrolls a feed over a link, and the engine as it is shipped decides what is loaded.
///
/// Discrete events: whatever comes first of the link's next event, the viewer's next step, the engine's timer
/// and the end of what plays. Who looks at what when does not depend on the strategy, but where the viewer has
/// to wait; so the viewer's random numbers are the same for all.
package struct Simulation: Sendable {
  /// What a run is of.
  package struct Setup: Sendable {
    /// What is scrolled.
    package var feed: LabFeed
    /// Who scrolls.
    package var viewer: ViewerModel
    /// Over what.
    package var network: LabNetwork
    /// How many items the viewer looks at.
    package var items: Int
    /// What the client is told wrong.
    var disturbance: Disturbance?

    /// A run of 1000 items, if no other count is given.
    package init(feed: LabFeed, viewer: ViewerModel, network: LabNetwork, items: Int = 1_000) {
      self.feed = feed
      self.viewer = viewer
      self.network = network
      self.items = items
    }
  }

  /// A file's bytes on their way.
  struct Transfer: Sendable {
    let id: Int
    let item: Int
    let file: Int
    let key: String
    /// The first byte that this request brings, and the last one's end.
    var start: Int
    let end: Int
    /// Where the request under way ends: with a chunk, of a file that comes in chunks.
    var requestEnd: Int
    /// The engine wants no more of it, and the chunk under way comes all the same.
    var isCancelled = false
    /// Up to where the engine was told.
    var told: Int
    var isPaused = false
    /// When it was asked for, and how much of the answer's body the meter has seen; `nil` before its head.
    var askedMicroseconds = 0
    var meteredBytes: Int?
  }

  /// What the viewer does.
  enum Phase: Hashable, Sendable {
    /// Waits for the feed's first page.
    case opening
    /// Is on the way to an item.
    case travelling
    /// Is at an item that is not in the list yet.
    case atEnd
    /// Is at an item that is not there, until then.
    case waiting(untilMicroseconds: Int)
    /// Looks at an item until then.
    case looking(untilMicroseconds: Int)
    case finished
  }

  let setup: Setup
  let told: [PrefetchItem]
  var engine: PrefetchEngine
  var link: Link
  var viewer: Viewer
  var figures = RunFigures()
  /// What happened, in words, where somebody wants to read it.
  var lines: [String]?
  /// What happened, as `SessionLog` has it, where somebody wants to replay it.
  var record: [UInt8]?
  /// What happened, as a picture needs it.
  var timeline: RunTimeline?

  /// What the engine is being told, and what is to be told after it.
  private var untold: [PrefetchEvent] = []
  var transfers: [Transfer] = []
  var pages: [(id: Int, place: PrefetchPlace)] = []
  /// Requests for pages have numbers below 0.
  var lastPage = 0
  /// Which items the engine's list has.
  var listed = 0..<0
  /// What is held of each file.
  var held: [ByteRangeSet]
  /// Of items in chunks, from which variant each chunk of their clip came first; `nil` for those that have not come.
  var chunks: [Int: [Int?]] = [:]
  var phase = Phase.opening
  var step = ViewerStep(index: 0, distance: 0, travelMilliseconds: 0, dwellMilliseconds: 0)
  var arrivesMicroseconds = 0
  /// Since when the viewer is where the item is or will be, and since when the list has it.
  var waitsSinceMicroseconds = 0
  var listedSinceMicroseconds = 0
  /// Whether the client has shown the first frame of the item where the viewer is.
  var isShown = true
  /// How much time the viewer had lost by then.
  var delayedMilliseconds = 0
  /// How long the viewer had waited before the item of now, where that is recorded.
  var waitedBeforeMicroseconds = 0
  var timerMilliseconds: Int?
  var playback = PlaybackState()
  /// Measures the link as the client library does, and when it looks again.
  var meter = LinkMeter()
  var metersMicroseconds = Int.max
  var toldKilobitsPerSecond = 0
  /// The bitrate of the clip that played last.
  var lastKilobitsPerSecond: Int?
  /// How far each clip was watched, in milliseconds; -1 of an item that was not looked at.
  var watched: [Int]

  /// A run of these random numbers.
  init(_ contestant: Contestant, _ setup: Setup, seed: UInt64, explains: Bool = false) {
    self.setup = setup
    var told = contestant.isHinted ? setup.feed.hinted : setup.feed.unhinted
    if !contestant.isLearned { for index in told.indices { told[index].survival = [] } }
    self.told = setup.disturbance?.told(told) ?? told
    let random = LabRandom(seed: seed)
    viewer = Viewer(setup.viewer, random: random.split(1))
    link = Self.link(setup, random).link
    var settings = contestant.settings
    var futures = random.split(3)
    settings.seed = futures.number(below: 1 << 53)
    if let expected = setup.network.expected {
      let kbps = setup.disturbance?.measured(expected.downlinkKbps) ?? expected.downlinkKbps
      settings.downlinkKbps = max(1, kbps)
      settings.roundTripMilliseconds = expected.roundTripMicroseconds / 1_000
    }
    engine = PrefetchEngine(policy: contestant.policy, settings: settings)
    // Nothing is known yet that it could act on.
    if contestant.isStressed { _ = engine.handle(.stressChanged(true), atMilliseconds: 0) }
    held = Array(repeating: ByteRangeSet(), count: setup.feed.firstFiles.last ?? 0)
    watched = Array(repeating: -1, count: setup.feed.items.count)
    lines = explains ? [] : nil
  }

  /// A run's link, and at which moment of its schedule it begins.
  static func link(_ setup: Setup, _ random: LabRandom) -> (link: Link, offsetMicroseconds: Int) {
    var network = random.split(2)
    let offset =
      setup.network.beginsAtTop
      ? 0 : setup.network.schedule.loopMicroseconds.map { network.number(below: $0) } ?? 0
    let link = Link(
      setup.network.schedule, settings: setup.network.link, offsetMicroseconds: offset,
      random: network)
    return (link, offset)
  }

  /// Runs a contestant.
  ///
  /// - Returns: what it counted; the same for the same seed, on every machine.
  package static func run(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> RunFigures {
    var simulation = Simulation(contestant, setup, seed: seed)
    simulation.run()
    return simulation.figures
  }

  /// The same, told in lines: what was asked for when and why, what came, what the viewer saw.
  package static func explain(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> (figures: RunFigures, lines: [String]) {
    var simulation = Simulation(contestant, setup, seed: seed, explains: true)
    simulation.run()
    return (simulation.figures, simulation.lines ?? [])
  }

  /// The same, with the record of the session, as a client writes it.
  package static func recorded(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> (figures: RunFigures, record: [UInt8]) {
    var simulation = Simulation(contestant, setup, seed: seed)
    simulation.record = SessionLog.line(beginning: simulation.engine, at: 0)
    simulation.run()
    return (simulation.figures, simulation.record ?? [])
  }

  /// The same, as a picture needs it.
  static func timeline(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> RunTimeline {
    var simulation = Simulation(contestant, setup, seed: seed)
    simulation.timeline = RunTimeline()
    simulation.run()
    return simulation.timeline!
  }

  /// No run takes longer, on its own clock: over a dead link nothing ever comes.
  static let longestMicroseconds = 30 * 86_400_000_000

  mutating func run() {
    ask(for: .anew)
    while phase != .finished, link.nowMicroseconds < Self.longestMicroseconds {
      let next = min(nextOwnMicroseconds, Self.longestMicroseconds)
      if let event = link.next(untilMicroseconds: next) {
        take(event)
      } else {
        takeOwnEvents()
      }
    }
    finish()
  }

  /// When the viewer, the engine's timer or the playback is next due.
  private var nextOwnMicroseconds: Int {
    var next = timerMilliseconds.map { $0 * 1_000 } ?? .max
    switch phase {
    case .opening, .atEnd, .finished: break
    case .travelling: next = min(next, arrivesMicroseconds)
    case .waiting(let until), .looking(let until): next = min(next, until)
    }
    return min(next, playback.nextMicroseconds, metersMicroseconds)
  }

  private mutating func takeOwnEvents() {
    let now = link.nowMicroseconds
    if playback.nextMicroseconds <= now { playOn() }
    if metersMicroseconds <= now { measure() }
    switch phase {
    case .travelling where arrivesMicroseconds <= now: arrive()
    case .waiting(let until) where until <= now: leave()
    case .looking(let until) where until <= now: leave()
    default: break
    }
    if let timer = timerMilliseconds, timer * 1_000 <= now {
      timerMilliseconds = nil
      tell(.timerFired)
    }
  }

  /// Tells the engine, and does what it says. What happens because of that is told when all of it is done, for
  /// the engine takes it for done already.
  mutating func tell(_ event: PrefetchEvent) {
    untold.append(event)
    guard untold.count == 1 else { return }
    var index = 0
    while index < untold.count {
      figures.events += 1
      let time = link.nowMicroseconds / 1_000
      let actions = engine.handle(untold[index], atMilliseconds: time)
      if record != nil {
        record! += SessionLog.lines(untold[index], actions, at: time)
      }
      for action in actions { perform(action) }
      index += 1
    }
    untold.removeAll(keepingCapacity: true)
  }

  /// A line of what happened, where somebody reads it.
  mutating func explain(_ text: @autoclosure () -> String) {
    guard lines != nil else { return }
    let milliseconds = link.nowMicroseconds / 1_000
    let fraction = String(milliseconds % 1_000 + 1_000).dropFirst()
    lines?.append("\(milliseconds / 1_000).\(fraction) s  \(text())")
  }

  private mutating func finish() {
    figures.milliseconds = link.nowMicroseconds / 1_000
    figures.waitsMilliseconds.sort()
    for transfer in transfers { bring(transfer.id) }
    figures.wastedBytes = figures.fetchedBytes - usedBytes
    timeline?.end(atMilliseconds: figures.milliseconds)
    let words = figures.words
    explain(words)
  }

  /// What of all that is held somebody looked at.
  private var usedBytes: Int {
    var used = 0
    for (index, item) in setup.feed.items.enumerated() where watched[index] >= 0 {
      var file = setup.feed.firstFiles[index]
      for variant in item.media.joined() {
        used += held[file].count(in: 0..<variant.bytes(throughMilliseconds: watched[index]))
        file += 1
      }
    }
    return used
  }
}

/// What the client measures of the link: by `LinkMeter`, as the client library does, from the bytes that come.
extension Simulation {
  /// How often the meter is asked while something comes; a client asks it whenever it reads.
  private static let stepMicroseconds = 50_000

  /// An answer's head is there.
  mutating func beginMetering(_ index: Int) {
    let now = link.nowMicroseconds
    transfers[index].meteredBytes = 0
    let id = transfers[index].id
    explain("the answer to \(id) begins")
    meter.answered(
      afterMilliseconds: (now - transfers[index].askedMicroseconds) / 1_000, at: now / 1_000)
    metersMicroseconds = min(
      metersMicroseconds, now + LinkMeter.leastMilliseconds * 1_000)
  }

  /// Looks at what has come of all answers.
  mutating func measure() {
    var bytes = 0
    for index in transfers.indices {
      guard let metered = transfers[index].meteredBytes,
        let came = link.bytes(of: transfers[index].id)
      else { continue }
      bytes += came - metered
      transfers[index].meteredBytes = came
    }
    let now = link.nowMicroseconds
    let measurement = meter.arrived(bytes, at: now / 1_000)
    let next = measurement == nil ? Self.stepMicroseconds : LinkMeter.leastMilliseconds * 1_000
    metersMicroseconds = meter.receiving > 0 ? now + next : .max
    tell(measurement)
  }

  /// An answer has ended, or the rest of it is not wanted.
  ///
  /// - Parameter bytes: how many of its body have come.
  /// - Returns: what that says of the link.
  @discardableResult
  mutating func endMetering(_ id: Int, bytes: Int?) -> LinkMeter.Measurement? {
    guard let index = transfers.firstIndex(where: { $0.id == id }), let bytes,
      let metered = transfers[index].meteredBytes
    else { return nil }
    transfers[index].meteredBytes = nil
    let now = link.nowMicroseconds / 1_000
    let arrived = meter.arrived(bytes - metered, at: now)
    let ended = meter.ended(at: now)
    if meter.receiving == 0 { metersMicroseconds = .max }
    return ended ?? arrived
  }

  /// Tells the engine; of a strategy that does not decide anew for it, what is about the same only once.
  mutating func tell(_ measurement: LinkMeter.Measurement?) {
    guard let measurement else { return }
    let change = abs(measurement.kilobitsPerSecond - toldKilobitsPerSecond)
    guard decidesWithEachPiece || change * 20 > toldKilobitsPerSecond else { return }
    toldKilobitsPerSecond = measurement.kilobitsPerSecond
    tell(
      .bandwidthMeasured(
        kilobitsPerSecond: setup.disturbance?.measured(measurement.kilobitsPerSecond)
          ?? measurement.kilobitsPerSecond,
        roundTripMilliseconds: measurement.roundTripMilliseconds))
  }
}
