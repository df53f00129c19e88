// `PrefetchClient` is for apps and knows nothing of the server but its JSON (`FeedPage`, in
// `PostJSON`). `Transport` is all that it needs of a network: URLSession in apps,
// `SocketTransport` in `lookahead browse`. `RangeStore` (an actor) keeps what answers bring:
// `KeptFiles` holds the limits, `FolderPieces` and `MemoryPieces` the bytes, `TransferTable` says
// which request brings which byte, `RangeAnswer` what an answer may claim; the last two are pure.
// `Prefetcher` tells the engine what happens, in the order in which it happened, and does what it
// says; what comes from tasks goes through one stream. `Viewer` (module `Viewing`) looks at a feed
// through it.

import Feed
import Foundation
import PostJSON
import Prefetch
import Reports

/// Loads a feed ahead of a person: holds the engine, tells it what happens, and does what it says, with ranges
/// from a store and pages from a session.
///
/// The app tells it what the person does (`look`, `scroll`, `play`) and what the device says (`tell`), shows
/// `items`, and draws what `updates` say. Players read from the `store`.
public actor Prefetcher {
  /// Where players read from.
  public nonisolated let store: RangeStore
  /// The feed.
  public nonisolated let session: FeedSession
  /// What happens, newest last; of unread events the last thousand.
  public nonisolated let updates: AsyncStream<Update>

  private let clock: SessionClock
  private let recorder: SessionRecorder?
  private let told: AsyncStream<Update>.Continuation
  private let inputs: AsyncStream<Input>
  private let input: AsyncStream<Input>.Continuation
  private var reader: Task<Void, Never>?

  private var engine: PrefetchEngine
  private let settings: PrefetchSettings
  /// The server's policy is to be asked for.
  private var asksForPolicy: Bool
  private var items: [ByteText: PrefetchItem] = [:]
  /// By item: which version of its first file its page is of, and then of its variants, in the page's order.
  private var versions: [ByteText: [String?]] = [:]
  private var running: [Int: PrefetchTransfer] = [:]
  private var resting: [Int: PrefetchTransfer] = [:]
  private var tasks: [Int: Task<Void, Never>] = [:]
  private var pageTasks: [Int: Task<Void, Never>] = [:]
  private var lastPageTask = 0
  private var timer: Task<Void, Never>?

  private var meter = LinkMeter()
  private var ledger = WasteLedger()
  private let traffic = MediaTraffic()
  private var waitMilliseconds = 0
  private var isLooking = false
  private var activeSince = 0
  /// What the person looks at, as long as its page is not there: the engine does not know it.
  private var awaited: String?
  /// When what starts the active item was there.
  private var readySince: Int?

  /// What is reported to the server, if anything is.
  private var report: SessionReport?
  private let outbox: ReportOutbox?
  private let reporting: ReportingSettings
  /// What the session was, if the server asked it to share that.
  private var recording: SessionRecording?
  private var isDrawn = false
  private var measured: LinkMeter.Measurement?
  private var look: Look?
  /// The loaders that the engine had counted when the last item was left.
  private var reportedLoaders = (image: 0, video: 0)

  /// What the person looks at, as it is reported.
  private struct Look {
    let since: Int
    /// Its page was not there.
    let isPageMissing: Bool
    /// How many of the bytes that start it were held.
    var heldBytes = 0
    /// How many there are.
    var neededBytes = 0
    /// The file of it that was loaded.
    var file: String?
    /// Which version of that its page was of.
    var version: String?
    /// When its first frame was shown.
    var frameAt: Int?
    /// How long it stood still since.
    var stalledMilliseconds = 0
  }

  /// Of more items than this, those that the session has let go of are forgotten.
  private static let itemLimit = 8_192

  /// What comes from tasks, in order.
  private enum Input: Sendable {
    case store(RangeStoreEvent)
    case ended(transfer: Int, RangeStoreError?)
    case page(PrefetchPlace, Result<PageArrival, FeedSessionError>)
    case timer
  }

  private struct PageArrival: Sendable {
    let items: [FeedItem]
    let hasPrevious: Bool
    let hasNext: Bool
  }

  /// A prefetcher for the feed; it does nothing before `begin`.
  ///
  /// - Parameters:
  ///   - policy: what it loads by; nil for the one in force for the feed on the server, or, while an experiment runs
  ///     on that, the one of the session's arm.
  ///   - recorder: writes down what the session was.
  ///   - reporting: what the session tells the server of what it met.
  /// - Precondition: `settings.problem` is nil.
  public init(
    session: FeedSession, store: RangeStore, policy: Policy? = nil,
    settings: PrefetchSettings = PrefetchSettings(), clock: SessionClock = SessionClock(),
    recorder: SessionRecorder? = nil, reporting: ReportingSettings = ReportingSettings()
  ) {
    self.session = session
    self.store = store
    self.clock = clock
    self.recorder = recorder
    asksForPolicy = policy == nil
    self.settings = settings
    let policy = policy ?? Policy(name: "", strategy: .plain(leading: 0))
    engine = PrefetchEngine(policy: policy, settings: settings)
    if !asksForPolicy { recorder?.begin(engine, at: clock.milliseconds) }
    self.reporting = reporting
    if reporting.isOn {
      report = SessionReport(
        feed: session.feed, policy: policy.name, settings: reporting, at: clock.milliseconds)
      let (url, transport) = session.reporting
      outbox = ReportOutbox(
        to: url, over: transport, settings: reporting, tokens: session.reportTokens)
    } else {
      outbox = nil
    }
    (updates, told) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_000))
    (inputs, input) = AsyncStream.makeStream()
  }

  /// Loads the first page, and from then on what the engine says.
  ///
  /// - Throws: `FeedSessionError`; it may be called again.
  public func begin() async throws(FeedSessionError) {
    if reader == nil {
      await store.setObserver { [input, traffic] in
        traffic.count($0)
        input.yield(.store($0))
      }
      reader = Task { [weak self, inputs] in
        for await input in inputs { await self?.take(input) }
      }
    }
    try await refresh()
  }

  /// Ends everything that is under way. What came is kept; the last part of the report is sent, for which it waits no
  /// longer than `ReportingSettings.timeoutMilliseconds` for an answer.
  public func end() async {
    leaveActive()
    let last = cutReport(isLast: true)
    // Whatever is called now, it is told once.
    report = nil
    reader?.cancel()
    input.finish()
    told.finish()
    timer?.cancel()
    for task in tasks.values { task.cancel() }
    for task in pageTasks.values { task.cancel() }
    await store.setObserver(nil)
    // Behind what no longer takes the link.
    if let last { await outbox?.send(last) }
  }

  // MARK: What the person does

  /// The feed from its top, past all caches.
  ///
  /// - Throws: `FeedSessionError`; the list stays as it was.
  public func refresh() async throws(FeedSessionError) {
    let page = try await session.refresh()
    if asksForPolicy { try await load(byPolicyOf: page) }
    drawRecording()
    await arrived(
      .anew,
      PageArrival(
        items: page.items, hasPrevious: page.previous != nil, hasNext: page.next != nil))
  }

  /// Loads by the policy in force from now on: nothing was loaded before.
  private func load(byPolicyOf page: FeedPage) async throws(FeedSessionError) {
    let policy = try await session.policy(onNetwork: page.prefetch.network)
    guard asksForPolicy else { return }
    asksForPolicy = false
    engine = PrefetchEngine(policy: policy, settings: settings)
    recorder?.begin(engine, at: clock.milliseconds)
    report?.load(by: policy.name, arm: await session.arm)
  }

  /// The session shares what it was if the server asked a share of sessions for that, and this one is drawn; once.
  private func drawRecording() {
    guard !isDrawn else { return }
    isDrawn = true
    guard report != nil, reporting.sharesRecording, Int.random(in: 0..<1_000) < session.recordShare
    else { return }
    recording = SessionRecording(at: clock.milliseconds)
  }

  /// What is new since, put above the list.
  ///
  /// - Returns: how many items.
  /// - Throws: `FeedSessionError`; the list stays as it was.
  @discardableResult
  public func poll() async throws(FeedSessionError) -> Int {
    let pages = try await session.newer()
    for page in pages {
      await arrived(
        .above,
        PageArrival(items: page.items, hasPrevious: page.previous != nil, hasNext: true))
    }
    return pages.reduce(0) { $0 + $1.items.count }
  }

  /// The person looks at this item now.
  public func look(at item: String) {
    leaveActive()
    (isLooking, activeSince) = (true, clock.milliseconds)
    let isReady = isReady(item)
    readySince = isReady ? activeSince : nil
    send(.activeChanged(item))
    awaited = engine.activeItem?.isSame(as: item) == true ? nil : item
    look = Look(since: activeSince, isPageMissing: awaited != nil)
    noteStart(of: item)
    let seen = SessionLog.Look(
      atMilliseconds: activeSince, item: item, isReady: isReady, isGoingUp: engine.isGoingUp)
    recorder?.note(seen)
    recording?.note(seen)
  }

  /// The list scrolls: this many items a second, below zero where it goes up; and where it will stop, in items
  /// from the active one, where the platform says that.
  public func scroll(itemsPerSecond: Double, stopDistance: Int? = nil) {
    let speed = min(max(itemsPerSecond * 1_000, -1e9), 1e9)
    send(
      .scrolled(milliitemsPerSecond: speed.isNaN ? 0 : Int(speed), stopDistance: stopDistance))
  }

  /// The active clip stands at this time of it.
  public func play(atMilliseconds time: Int, _ playback: PrefetchEvent.Playback = .playing) {
    send(.playbackMoved(milliseconds: time, playback))
  }

  /// The active item's first frame is on the screen: how long that took is reported.
  public func frameShown() {
    if look?.frameAt == nil { look?.frameAt = clock.milliseconds }
  }

  /// The active clip stood still so often since its bytes ran out, for so long together: it is reported.
  public func stalled(_ count: Int = 1, milliseconds: Int) {
    look?.stalledMilliseconds += milliseconds
    report?.stalled(count, milliseconds: milliseconds)
  }

  /// What the device says: the network, Save-Data, stress, memory, that the app is out of sight.
  public func tell(_ event: PrefetchEvent) { send(event) }

  // MARK: What there is

  /// What it loads by; nothing ahead before the first page, where it was made without a policy.
  public var policy: Policy { engine.policy }

  /// Whether what starts the item is there.
  public func isReady(_ item: String) -> Bool {
    engine.isReady(item) || items[item]?.media.isEmpty == true
  }

  /// The file of an item that is loaded: its first media, the variant that was chosen.
  public func chosenFile(of item: String) -> PrefetchFile? { engine.chosenFile(of: item) }

  /// Up to where all bytes of that file are there.
  public func heldPrefix(of item: String) -> Int {
    guard let first = engine.chosenFile(of: item).flatMap({ engine.held($0.key).first }),
      first.lowerBound == 0
    else { return 0 }
    return first.upperBound
  }

  /// What the viewing came to so far.
  public var figures: ViewingFigures {
    var figures = ViewingFigures()
    let pages = session.traffic
    figures.items = engine.counts.viewedItems
    figures.imageLoaders = engine.counts.imageLoaders
    figures.videoLoaders = engine.counts.videoLoaders
    figures.waitMilliseconds = waitMilliseconds
    figures.bytes = traffic.bytes + pages.bytes
    figures.wastedBytes = ledger.wastedBytes
    figures.requests = traffic.requests + pages.requests
    figures.pageRequests = pages.requests
    return figures
  }

  /// The active item is left: what it waited, and what of it was watched.
  public func leaveActive() {
    reportLook()
    guard let active = engine.activeItem, let item = items[active], isLooking else { return }
    isLooking = false
    let now = clock.milliseconds
    let wait = (readySince ?? now) - activeSince
    waitMilliseconds += wait
    ledger.watched(
      item, chosen: engine.chosenFile(of: active)?.key, milliseconds: now - (readySince ?? now),
      wasReady: readySince != nil)
    recorder?.noteEnd(of: active, from: activeSince, waitMilliseconds: wait, at: now)
    recording?.noteEnd(
      of: active, at: now, dwellMilliseconds: now - activeSince, waitMilliseconds: wait)
  }

  // MARK: The report

  /// What was missing of the item that is left, as the engine has counted it.
  private func loader(of look: Look) -> LoaderKind? {
    if look.isPageMissing { return .page }
    if engine.counts.imageLoaders > reportedLoaders.image { return .image }
    return engine.counts.videoLoaders > reportedLoaders.video ? .video : nil
  }

  /// The item is left: it is counted, and a part is sent if one is due.
  private func reportLook() {
    guard let look = look.take() else { return }
    let now = clock.milliseconds
    report?.left(
      loader: loader(of: look), waitMilliseconds: (readySince ?? now) - look.since,
      frameMilliseconds: look.frameAt.map { $0 - look.since }, seen: seen(look, until: now))
    reportedLoaders = (engine.counts.imageLoaders, engine.counts.videoLoaders)
    guard report?.isDue(at: now, interval: reporting.intervalMilliseconds) == true else { return }
    Task { await sendReport(isLast: false) }
  }

  /// Notes what starts the item that becomes active, and what of it is there.
  private func noteStart(of item: String) {
    guard let start = engine.start(of: item) else { return }
    look?.heldBytes = start.heldBytes
    look?.neededBytes = start.neededBytes
    guard let file = engine.chosenFile(of: item)?.key else { return }
    look?.file = file
    look?.version = version(of: item, variant: variant(file, of: item))
  }

  /// Which variant of an item's first file it is, by its index on pages; nil for the file itself.
  private func variant(_ file: String, of item: String) -> Int? {
    // From the best down, behind the original; pages have them from the smallest up.
    guard let files = items[item]?.media.first?.files,
      let place = files.firstIndex(where: { $0.key.isSame(as: file) }), place > 0
    else { return nil }
    return files.count - 1 - place
  }

  private func version(of item: String, variant: Int?) -> String? {
    let all = versions[item] ?? []
    let place = variant.map { $0 + 1 } ?? 0
    return place < all.count ? all[place] : nil
  }

  /// What is told of the item that is left; nil of one without files.
  private func seen(_ look: Look, until now: Int) -> SeenItem? {
    guard let active = engine.activeItem, items[active] != nil,
      let start = engine.start(of: active),
      let file = engine.chosenFile(of: active)?.key
    else { return nil }
    var seen = SeenItem(id: active)
    // Another variant may have been chosen since.
    let isSame = look.file?.isSame(as: file) == true
    seen.heldBytes = isSame ? look.heldBytes : 0
    seen.neededBytes = isSame ? look.neededBytes : start.neededBytes
    seen.variant = variant(file, of: active)
    seen.version = isSame ? look.version : version(of: active, variant: seen.variant)
    seen.readyMilliseconds = readySince.map { $0 - look.since }
    seen.frameMilliseconds = look.frameAt.map { $0 - look.since }
    seen.watchedMilliseconds = max(0, now - (readySince ?? now) - look.stalledMilliseconds)
    seen.hasLeftWaiting = readySince == nil
    return seen
  }

  private func sendReport(isLast: Bool) async {
    if let part = cutReport(isLast: isLast) { await outbox?.send(part) }
  }

  /// The part that ends now; nil if there is nothing to tell.
  private func cutReport(isLast: Bool) -> ReportPart? {
    guard report?.hasItems == true || isLast && report?.hasBegun == true else { return nil }
    var totals = SessionReport.Totals()
    totals.requests = traffic.requests
    totals.pageRequests = session.traffic.requests
    totals.fates = ledger.fates
    totals.downlinkKbps = measured?.kilobitsPerSecond
    totals.roundTripMilliseconds = measured?.roundTripMilliseconds
    var part = report?.cut(at: clock.milliseconds, totals, isLast: isLast)
    if let shared = recording, isLast || shared.isFull {
      part?.record = String(decoding: shared.bytes, as: UTF8.self)
      recording = nil
    }
    return part
  }

  // MARK: The engine

  private func send(_ event: PrefetchEvent) {
    let now = clock.milliseconds
    let actions = engine.handle(event, atMilliseconds: now)
    recorder?.note(event, actions, at: now)
    recording?.note(event, actions, at: now)
    for action in actions { perform(action) }
  }

  private func perform(_ action: PrefetchAction) {
    told.yield(.acted(action))
    switch action.kind {
    case .fetch(let transfer): begin(transfer)
    case .cancel(let id):
      if let transfer = running[id] ?? resting[id] { ledger.cancelled(transfer.key) }
      running[id] = nil
      resting[id] = nil
      tasks.removeValue(forKey: id)?.cancel()
    case .pause(let id):
      resting[id] = running.removeValue(forKey: id)
      tasks.removeValue(forKey: id)?.cancel()
    case .resume(let id):
      if let transfer = resting.removeValue(forKey: id) { begin(transfer) }
    case .askForPage(let place): ask(place)
    case .showPlaceholder(let item): told.yield(.placeholder(item: item))
    case .ready(let item):
      if engine.activeItem?.isSame(as: item) == true, readySince == nil {
        readySince = clock.milliseconds
      }
      told.yield(.ready(item: item))
    case .showFrame(let item): told.yield(.frame(item: item))
    case .evict(let key, let range):
      if let url = URL(string: key) { Task { [store] in await store.discard(range, of: url) } }
    case .waitUntil(let time):
      timer?.cancel()
      timer = Task { [clock, input] in
        guard (try? await clock.sleep(untilMilliseconds: time)) != nil else { return }
        input.yield(.timer)
      }
    }
  }

  private func begin(_ transfer: PrefetchTransfer) {
    guard let url = URL(string: transfer.key) else { return }
    running[transfer.id] = transfer
    let priority: RangePriority =
      switch transfer.priority {
      case .urgent: .urgent
      case .active: .active
      case .ahead: .ahead
      }
    tasks[transfer.id] = Task { [store, input] in
      do throws(RangeStoreError) {
        try await store.fetch(url, from: transfer.start, to: transfer.end, priority: priority)
        input.yield(.ended(transfer: transfer.id, nil))
      } catch {
        input.yield(.ended(transfer: transfer.id, error))
      }
    }
  }

  private func ask(_ place: PrefetchPlace) {
    lastPageTask += 1
    let number = lastPageTask
    let active = engine.activeItem
    pageTasks[number] = Task { [session, input] in
      do throws(FeedSessionError) {
        let items: [FeedItem]
        switch place {
        case .anew: items = try await session.refresh().items
        case .below: items = try await session.older()?.items ?? []
        case .above: items = try await session.previous()?.items ?? []
        case .around(let distance):
          let offset = await session.offset(of: active ?? "") ?? 0
          let (index, overflow) = offset.addingReportingOverflow(distance)
          // What is asked for again where the person is, is no longer good as it is known.
          items = try await session.window(
            aroundOffset: overflow ? offset : index, bypassesCaches: distance == 0
          ).items
        }
        let arrival = PageArrival(
          items: items, hasPrevious: await session.hasPrevious, hasNext: await session.hasOlder)
        input.yield(.page(place, .success(arrival)))
      } catch {
        input.yield(.page(place, .failure(error)))
      }
      self.pageTasks[number] = nil
    }
  }

  // MARK: What comes of it

  private func take(_ input: Input) async {
    switch input {
    case .store(let event): take(event)
    case .ended(let id, let error): await ended(id, error)
    case .page(let place, .success(let arrival)): await arrived(place, arrival)
    case .page(let place, .failure(let error)):
      told.yield(.pageFailed(error))
      send(.pageFailed(place, retryAfterMilliseconds: error.retryAfterMilliseconds))
    case .timer: send(.timerFired)
    }
  }

  private func take(_ event: RangeStoreEvent) {
    let now = clock.milliseconds
    var measurement: LinkMeter.Measurement?
    switch event {
    case .asked: break
    case .answered(_, let wait):
      meter.answered(afterMilliseconds: clock.milliseconds(wait), at: now)
    case .ended: measurement = meter.ended(at: now)
    case .arrived(let url, let range, let newBytes):
      ledger.fetched(newBytes, of: url)
      measurement = meter.arrived(range.count, at: now)
      let transfer = running.values.first {
        $0.key == url && $0.start <= range.lowerBound && range.lowerBound < $0.end ?? .max
      }
      if let transfer {
        send(.bytesArrived(transfer: transfer.id, key: url, range))
      } else {
        send(.bytesFound(key: url, [range]))
      }
    }
    if let measurement {
      measured = measurement
      send(
        .bandwidthMeasured(
          kilobitsPerSecond: measurement.kilobitsPerSecond,
          roundTripMilliseconds: measurement.roundTripMilliseconds))
    }
  }

  private func ended(_ id: Int, _ error: RangeStoreError?) async {
    guard let transfer = running[id], let url = URL(string: transfer.key) else { return }
    tasks[id] = nil
    if let error {
      running[id] = nil
      return send(.transferFailed(id, TransferFailure(error)))
    }
    // What the store had already crossed no network.
    let held = await store.held(of: url)
    if transfer.end == nil, let version = await store.version(of: url) {
      send(.sizeLearned(key: transfer.key, bytes: version.bytes))
    }
    send(.bytesFound(key: transfer.key, held.ranges))
    guard running.removeValue(forKey: id) != nil else { return }
    send(.transferFinished(id))
  }

  private func arrived(_ place: PrefetchPlace, _ page: PageArrival) async {
    let new = page.items.map { item in
      PrefetchItem(
        item, url: { [session] in session.url(of: $0)?.absoluteString },
        time: { [session, clock] in
          max(0, clock.milliseconds + clock.milliseconds(of: session.milliseconds(until: $0)))
        })
    }
    if place == .anew { (items, versions) = ([:], [:]) }
    for item in new { items[ByteText(item.id)] = item }
    for item in page.items {
      versions[ByteText(item.id)] = item.media.first.map { media in
        [media.version] + media.variants.sorted { $0.bytes < $1.bytes }.map(\.version)
      }
    }
    if items.count > Self.itemLimit {
      let ids = await session.items.map(\.id) + [engine.activeItem].compactMap(\.self)
      let known = Set(ids.map(ByteText.init))
      items = items.filter { known.contains($0.key) }
      versions = versions.filter { known.contains($0.key) }
    }
    send(
      .pageArrived(place, items: new, hasPrevious: page.hasPrevious, hasNext: page.hasNext))
    if let item = awaited, items[item] != nil {
      awaited = nil
      send(.activeChanged(item))
      noteStart(of: item)
    }
    // What an earlier session left in the store.
    for file in new.flatMap(\.media).flatMap(\.files) {
      guard let url = URL(string: file.key) else { continue }
      let held = await store.held(of: url)
      if !held.isEmpty { send(.bytesFound(key: file.key, held.ranges)) }
    }
    told.yield(.itemsChanged)
  }
}
