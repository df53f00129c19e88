import PostJSON
import Prefetch

// `Lab` runs the engine of `Prefetch` against a simulated world. `Simulation` is one run: it finds out which
// of the `Link`, the viewer, the engine's timer and the playback is next, advances to it, tells the engine,
// and carries out the engine's actions. Events caused by actions are told after them, because the engine
// considers its actions done. `Link` is a fluid whose rates are constant between events; all its amounts are
// integers, so that a seed gives the same run on every machine. `LabRandom` splits: viewer, network, feed and
// the engine's futures have numbers of their own, so that all strategies see the same world. `Experiment`
// runs contestants on networks, repeat by repeat, on the threads of its caller; it keeps only the figures of
// each run. `Experiment.tune` finds the best of many settings on one half of the networks and judges it on
// the other. `LabReport` writes the results as one page, which `Markup` and `ChartFrame` draw.
// `SequentialInterval` and `Comparison` state what may be concluded from the results.

/// One run: a viewer scrolls a feed over a link, and the engine, as it is shipped, decides what is loaded.
///
/// It is a discrete-event simulation: next comes the earliest of the link's next event, the viewer's next
/// step, the engine's timer and the end of what plays. What is looked at, and when, does not depend on the
/// strategy, except where the viewer has to wait. So the viewer's random numbers are the same for all
/// strategies.
package struct Simulation: Sendable {
  /// The setup of a run.
  package struct Setup: Sendable {
    /// The feed.
    package var feed: LabFeed
    /// The viewer.
    package var viewer: ViewerModel
    /// The network.
    package var network: LabNetwork
    /// The number of items that the viewer looks at.
    package var items: Int
    /// What the client is told wrongly.
    var disturbance: Disturbance?

    /// Creates a setup, of 1000 items by default.
    package init(feed: LabFeed, viewer: ViewerModel, network: LabNetwork, items: Int = 1_000) {
      self.feed = feed
      self.viewer = viewer
      self.network = network
      self.items = items
    }
  }

  /// A transfer of bytes of a file.
  struct Transfer: Sendable {
    let id: Int
    let item: Int
    let file: Int
    let key: String
    /// The first byte of this request, and the end of the transfer.
    var start: Int
    let end: Int
    /// The end of the current request: that of a chunk, if the file has chunks.
    var requestEnd: Int
    /// Whether the engine has cancelled it. The chunk in flight arrives all the same.
    var isCancelled = false
    /// The end of the bytes that the engine was told of.
    var told: Int
    var isPaused = false
    /// The time of the request, and the number of bytes of the body that the meter has seen; `nil` before the
    /// head.
    var askedMicroseconds = 0
    var meteredBytes: Int?
  }

  /// The viewer's activity.
  enum Phase: Hashable, Sendable {
    /// Waits for the feed's first page.
    case opening
    /// Is on the way to an item.
    case travelling
    /// Is at an item that is not in the list yet.
    case atEnd
    /// Waits until this time at an item that is not loaded.
    case waiting(untilMicroseconds: Int)
    /// Looks at an item until this time.
    case looking(untilMicroseconds: Int)
    case finished
  }

  let setup: Setup
  let told: [PrefetchItem]
  var engine: PrefetchEngine
  var link: Link
  var viewer: Viewer
  var figures = RunFigures()
  /// The course of the run in words; `nil` unless requested.
  var lines: [String]?
  /// The recording of the run, in the format of `SessionLog`; `nil` unless requested.
  var record: [UInt8]?
  /// The timeline of the run; `nil` unless requested.
  var timeline: RunTimeline?

  /// The event that the engine is being told, and those to tell it next.
  private var untold: [PrefetchEvent] = []
  var transfers: [Transfer] = []
  var pages: [(id: Int, place: PrefetchPlace)] = []
  /// The id of the last request for a page. These ids are negative.
  var lastPage = 0
  /// The items in the engine's list.
  var listed = 0..<0
  /// The held ranges of each file.
  var held: [ByteRangeSet]
  /// For items in chunks, the variant from which each chunk of the clip arrived first; `nil` for absent
  /// chunks.
  var chunks: [Int: [Int?]] = [:]
  var phase = Phase.opening
  var step = ViewerStep(index: 0, distance: 0, travelMilliseconds: 0, dwellMilliseconds: 0)
  var arrivesMicroseconds = 0
  /// The times since which the viewer is where the item is or will be, and since which the list has it.
  var waitsSinceMicroseconds = 0
  var listedSinceMicroseconds = 0
  /// Whether the client has shown the first frame of the viewer's item.
  var isShown = true
  /// The viewer's total delay at the arrival.
  var delayedMilliseconds = 0
  /// The viewer's total wait before the current item, for the recording.
  var waitedBeforeMicroseconds = 0
  var timerMilliseconds: Int?
  var playback = PlaybackState()
  /// The link's meter, as in the client library, and the time of its next look.
  var meter = LinkMeter()
  var metersMicroseconds = Int.max
  var toldKilobitsPerSecond = 0
  /// The bitrate of the clip that played last.
  var lastKilobitsPerSecond: Int?
  /// The time through which each clip was watched, in milliseconds; -1 for items not looked at.
  var watched: [Int]

  /// Creates a run with these random numbers.
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
    // Nothing is known yet that the engine could act on.
    if contestant.isStressed { _ = engine.handle(.stressChanged(true), atMilliseconds: 0) }
    held = Array(repeating: ByteRangeSet(), count: setup.feed.firstFiles.last ?? 0)
    watched = Array(repeating: -1, count: setup.feed.items.count)
    lines = explains ? [] : nil
  }

  /// A run's link, and the moment of its schedule at which it begins.
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
  /// - Returns: its figures; the same for the same seed, on every machine.
  package static func run(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> RunFigures {
    var simulation = Simulation(contestant, setup, seed: seed)
    simulation.run()
    return simulation.figures
  }

  /// Runs a contestant, and describes the run in lines: requests with their reasons, what arrived, what the
  /// viewer saw.
  package static func explain(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> (figures: RunFigures, lines: [String]) {
    var simulation = Simulation(contestant, setup, seed: seed, explains: true)
    simulation.run()
    return (simulation.figures, simulation.lines ?? [])
  }

  /// Runs a contestant, and records the session as a client does.
  package static func recorded(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> (figures: RunFigures, record: [UInt8]) {
    var simulation = Simulation(contestant, setup, seed: seed)
    simulation.record = SessionLog.line(beginning: simulation.engine, at: 0)
    simulation.run()
    return (simulation.figures, simulation.record ?? [])
  }

  /// Runs a contestant, and returns the timeline of the run.
  static func timeline(
    _ contestant: Contestant, _ setup: Setup, seed: UInt64
  ) -> RunTimeline {
    var simulation = Simulation(contestant, setup, seed: seed)
    simulation.timeline = RunTimeline()
    simulation.run()
    return simulation.timeline!
  }

  /// The maximum duration of a run on its own clock, because nothing ever arrives over a dead link.
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

  /// The time at which the viewer, the engine's timer, the playback or the meter is due next.
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

  /// Tells the engine an event, and carries out its actions. Events that these cause are told when all
  /// actions are done, because the engine considers them done.
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

  /// Adds a line to the course of the run, if it is requested.
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

  /// The number of held bytes that the viewer saw.
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

/// The client's measurements of the link: by `LinkMeter`, as in the client library, from the bytes that
/// arrive.
extension Simulation {
  /// The interval of the meter's looks while bytes arrive; a client looks at each read.
  private static let stepMicroseconds = 50_000

  /// Handles the arrival of an answer's head.
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

  /// Takes what has arrived of all answers.
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

  /// Handles the end of an answer, or of the interest in it.
  ///
  /// - Parameter bytes: the number of bytes of its body that have arrived.
  /// - Returns: the measurement of the link from it.
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

  /// Tells the engine a measurement. A strategy that does not decide with each piece is not told of small
  /// changes.
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
