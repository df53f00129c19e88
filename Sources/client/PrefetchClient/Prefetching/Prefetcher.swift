// `PrefetchClient` is for apps and knows nothing of the server but its JSON (`FeedPage`, in `PostJSON`).
// `Transport` is its only access to a network: URLSession in apps, `SocketTransport` in `lookahead browse`.
// `RangeStore` (an actor) keeps the bytes of answers: `KeptFiles` enforces the limits, `FolderPieces` and
// `MemoryPieces` store the bytes, `TransferTable` assigns each byte to one request, `RangeAnswer` checks what
// an answer claims; the last two are pure. `Prefetcher` tells the engine what happens, in the order in which
// it happened, and carries out the engine's actions; events of tasks go through one stream. `Viewer` (module
// `Viewing`) views a feed through it.

import Feed
import Foundation
import PostJSON
import Prefetch
import Reports

/// Loads a feed ahead of a person. It owns the engine, tells it what happens, and carries out its actions,
/// with ranges from a store and pages from a session.
///
/// The app tells the prefetcher what the person does (`look`, `scroll`, `play`) and what the device says
/// (`tell`), shows the session's items, and draws what `updates` say. Players read from the `store`.
public actor Prefetcher {
  /// The store that players read from.
  public nonisolated let store: RangeStore
  /// The session of the feed.
  public nonisolated let session: FeedSession
  /// The updates, newest last; at most the last thousand unread ones are kept.
  public nonisolated let updates: AsyncStream<Update>

  private let clock: SessionClock
  private let recorder: SessionRecorder?
  private let told: AsyncStream<Update>.Continuation
  private let inputs: AsyncStream<Input>
  private let input: AsyncStream<Input>.Continuation
  private var reader: Task<Void, Never>?

  private var engine: PrefetchEngine
  private let settings: PrefetchSettings
  /// Whether the server's policy is still to be loaded.
  private var asksForPolicy: Bool
  private var items: [ByteText: PrefetchItem] = [:]
  /// For each item, the versions of its first file and then of the file's variants according to its page, in
  /// the page's order.
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
  /// The item that the person looks at while its page is absent: the engine does not know it yet.
  private var awaited: String?
  /// The time at which the bytes that start the active item were there.
  private var readySince: Int?

  /// The report to the server; nil if reporting is off.
  private var report: SessionReport?
  private let outbox: ReportOutbox?
  private let reporting: ReportingSettings
  /// The recording of the session; nil unless the server asked for it.
  private var recording: SessionRecording?
  private var isDrawn = false
  private var measured: LinkMeter.Measurement?
  private var look: Look?
  /// The engine's counts of loaders when the last item was left.
  private var reportedLoaders = (image: 0, video: 0)

  /// The look at the active item, as it is reported.
  private struct Look {
    let since: Int
    /// Whether its page was absent.
    let isPageMissing: Bool
    /// The number of held bytes of those that start it.
    var heldBytes = 0
    /// The number of bytes that start it.
    var neededBytes = 0
    /// The key of the loaded file.
    var file: String?
    /// The file's version according to its page.
    var version: String?
    /// The time at which its first frame was shown.
    var frameAt: Int?
    /// The total duration of its stalls.
    var stalledMilliseconds = 0
  }

  /// The number of items above which those that the session has dropped are forgotten.
  private static let itemLimit = 8_192

  /// An event of a task, in order.
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

  /// Creates a prefetcher for the feed; it does nothing before `begin`.
  ///
  /// - Parameters:
  ///   - policy: the policy to load by; nil for the one in force for the feed on the server or, while an
  ///     experiment runs on that, the one of the session's arm.
  ///   - recorder: records the session.
  ///   - reporting: settings of the reports to the server.
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

  /// Loads the first page, and from then on what the engine asks for.
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

  /// Ends all tasks and keeps the bytes that arrived. Sends the last part of the report, and waits at most
  /// `ReportingSettings.timeoutMilliseconds` for an answer to it.
  public func end() async {
    leaveActive()
    let last = cutReport(isLast: true)
    // The last part is sent once, whatever is called from now on.
    report = nil
    reader?.cancel()
    input.finish()
    told.finish()
    timer?.cancel()
    for task in tasks.values { task.cancel() }
    for task in pageTasks.values { task.cancel() }
    await store.setObserver(nil)
    // Sent last, when the cancelled tasks no longer take the link.
    if let last { await outbox?.send(last) }
  }

  // MARK: Actions of the person

  /// Loads the feed from its top, bypassing all caches.
  ///
  /// - Throws: `FeedSessionError`; the list is then unchanged.
  public func refresh() async throws(FeedSessionError) {
    let page = try await session.refresh()
    if asksForPolicy { try await load(byPolicyOf: page) }
    drawRecording()
    await arrived(
      .anew,
      PageArrival(
        items: page.items, hasPrevious: page.previous != nil, hasNext: page.next != nil))
  }

  /// Loads by the policy in force from now on. Nothing was loaded before.
  private func load(byPolicyOf page: FeedPage) async throws(FeedSessionError) {
    let policy = try await session.policy(onNetwork: page.prefetch.network)
    guard asksForPolicy else { return }
    asksForPolicy = false
    engine = PrefetchEngine(policy: policy, settings: settings)
    recorder?.begin(engine, at: clock.milliseconds)
    report?.load(by: policy.name, arm: await session.arm)
  }

  /// Decides once whether the session shares a recording: the server asks a share of sessions for it, drawn
  /// at random.
  private func drawRecording() {
    guard !isDrawn else { return }
    isDrawn = true
    guard report != nil, reporting.sharesRecording, Int.random(in: 0..<1_000) < session.recordShare
    else { return }
    recording = SessionRecording(at: clock.milliseconds)
  }

  /// Loads new items, and puts them above the list.
  ///
  /// - Returns: the number of items.
  /// - Throws: `FeedSessionError`; the list is then unchanged.
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

  /// Tells the prefetcher that the person looks at this item now.
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

  /// Tells the prefetcher that the list scrolls.
  ///
  /// - Parameters:
  ///   - itemsPerSecond: the speed, negative if the list goes up.
  ///   - stopDistance: where it will stop, in items from the active one, if the platform says so.
  public func scroll(itemsPerSecond: Double, stopDistance: Int? = nil) {
    let speed = min(max(itemsPerSecond * 1_000, -1e9), 1e9)
    send(
      .scrolled(milliitemsPerSecond: speed.isNaN ? 0 : Int(speed), stopDistance: stopDistance))
  }

  /// Tells the prefetcher the time in the active clip, and how it plays.
  public func play(atMilliseconds time: Int, _ playback: PrefetchEvent.Playback = .playing) {
    send(.playbackMoved(milliseconds: time, playback))
  }

  /// Tells the prefetcher that the active item's first frame is on the screen. The time until then is
  /// reported.
  public func frameShown() {
    if look?.frameAt == nil { look?.frameAt = clock.milliseconds }
  }

  /// Tells the prefetcher that the active clip stalled because its bytes ran out: the number of stalls and
  /// their total duration, which are reported.
  public func stalled(_ count: Int = 1, milliseconds: Int) {
    look?.stalledMilliseconds += milliseconds
    report?.stalled(count, milliseconds: milliseconds)
  }

  /// Tells the prefetcher what the device says: the network, Save-Data, stress, memory, that the app is out
  /// of sight.
  public func tell(_ event: PrefetchEvent) { send(event) }

  // MARK: State

  /// The policy in use. Without one in `init`, it loads nothing ahead before the first page.
  public var policy: Policy { engine.policy }

  /// Whether the bytes that start the item are there.
  public func isReady(_ item: String) -> Bool {
    engine.isReady(item) || items[item]?.media.isEmpty == true
  }

  /// The file that is loaded of an item: the chosen variant of its first media.
  public func chosenFile(of item: String) -> PrefetchFile? { engine.chosenFile(of: item) }

  /// The number of first bytes of that file that are all there.
  public func heldPrefix(of item: String) -> Int {
    guard let first = engine.chosenFile(of: item).flatMap({ engine.held($0.key).first }),
      first.lowerBound == 0
    else { return 0 }
    return first.upperBound
  }

  /// The figures of the viewing so far.
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

  /// Ends the look at the active item: counts its wait and the watched bytes.
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

  /// What was absent when the item that is left became active, according to the engine's counts.
  private func loader(of look: Look) -> LoaderKind? {
    if look.isPageMissing { return .page }
    if engine.counts.imageLoaders > reportedLoaders.image { return .image }
    return engine.counts.videoLoaders > reportedLoaders.video ? .video : nil
  }

  /// Adds the item that is left to the report, and sends a part if one is due.
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

  /// Notes the bytes that start the item that becomes active, and how many of them are held.
  private func noteStart(of item: String) {
    guard let start = engine.start(of: item) else { return }
    look?.heldBytes = start.heldBytes
    look?.neededBytes = start.neededBytes
    guard let file = engine.chosenFile(of: item)?.key else { return }
    look?.file = file
    look?.version = version(of: item, variant: variant(file, of: item))
  }

  /// The index on pages of the variant that this file is; nil for the item's first file itself.
  private func variant(_ file: String, of item: String) -> Int? {
    // `files` has the original and then the variants from the best down; pages list them from the smallest
    // up.
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

  /// The report's facts about the item that is left; nil if it has no files.
  private func seen(_ look: Look, until now: Int) -> SeenItem? {
    guard let active = engine.activeItem, items[active] != nil,
      let start = engine.start(of: active),
      let file = engine.chosenFile(of: active)?.key
    else { return nil }
    var seen = SeenItem(id: active)
    // The engine may have chosen another variant since.
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

  /// Ends the current part; nil if there is nothing to report.
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
          // A request for the place where the person is means that the known pages are out of date.
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

  // MARK: Events of tasks

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
    // Bytes that the store already had crossed no network, and no event announced them.
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
    // Bytes that an earlier session left in the store.
    for file in new.flatMap(\.media).flatMap(\.files) {
      guard let url = URL(string: file.key) else { continue }
      let held = await store.held(of: url)
      if !held.isEmpty { send(.bytesFound(key: file.key, held.ranges)) }
    }
    told.yield(.itemsChanged)
  }
}
