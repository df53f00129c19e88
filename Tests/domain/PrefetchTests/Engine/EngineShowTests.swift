import Feed
import Prefetch
import Testing

/// What is shown, what is kept, and what is counted.
@Suite struct EngineShowTests {
  private let images = (0..<10).map { EngineSamples.image($0) }

  @Test func `bytes ready and frame shown are two things`() {
    var (engine, first) = EngineSamples.engine(.endless, [EngineSamples.clip(0)]) {
      $0.decoderStartMilliseconds = 120
    }
    #expect(first.others == ["placeholder 0"])
    let ready = engine.arrive([first.transfers[0]], at: 500)
    #expect(ready.others == ["ready 0"])
    #expect(ready.last?.kind == .waitUntil(milliseconds: 620))
    #expect(ready.last?.reason.description == "the decoder is done then")
    #expect(engine.handle(.timerFired, atMilliseconds: 620).others == ["frame 0"])
    #expect(engine.counts.videoLoaders == 1)
  }

  @Test func `an item that was decoded ahead shows at once`() {
    var (engine, first) = EngineSamples.engine(
      .plain(leading: 1), (0..<3).map { EngineSamples.clip($0) })
    _ = engine.arrive(first.transfers, at: 500)
    let next = engine.handle(.activeChanged("1"), atMilliseconds: 1_000)
    #expect(next.others.contains("frame 1"))
    #expect(!next.others.contains("placeholder 1"))
    #expect(engine.counts.videoLoaders == 1)
  }

  @Test func `under stress nothing is decoded ahead`() {
    var (engine, first) = EngineSamples.engine(
      .plain(leading: 1), (0..<3).map { EngineSamples.clip($0) }
    ) { $0.decoderStartMilliseconds = 120 }
    _ = engine.handle(.stressChanged(true), atMilliseconds: 0)
    _ = engine.arrive(first.transfers, at: 500)
    let next = engine.handle(.activeChanged("1"), atMilliseconds: 1_000)
    #expect(next.others.contains("placeholder 1") && !next.others.contains("frame 1"))
    #expect(engine.handle(.timerFired, atMilliseconds: 1_120).others.contains("frame 1"))
    // It is there all the same: that is no loader.
    #expect(engine.counts.videoLoaders == 1)
  }

  @Test func `a cancelled transfer's bytes are kept and counted, those that come late with them`() {
    var (engine, first) = EngineSamples.engine(.plain(leading: 1), images)
    let one = first.transfers[1]
    _ = engine.handle(
      .bytesArrived(transfer: one.id, key: one.key, 0..<30_000), atMilliseconds: 10)
    let away = engine.handle(.activeChanged("5"), atMilliseconds: 20)
    #expect(away.others.contains("cancel \(one.id)"))
    _ = engine.handle(
      .bytesArrived(transfer: one.id, key: one.key, 30_000..<40_000), atMilliseconds: 30)
    #expect(engine.held(one.key) == [0..<40_000])
    #expect(engine.counts.fetchedBytes == 40_000)
    #expect(engine.counts.cancelledBytes == 10_000)
    // Back again only the rest is asked for.
    let back = engine.handle(.activeChanged("1"), atMilliseconds: 40)
    #expect(back.fetches.first == "/1 40000..<100000")
  }

  @Test func `leaving the window evicts nothing; memory does, what is farthest first`() {
    var (engine, _) = EngineSamples.engine(.endless, images)
    for number in 0..<10 {
      _ = engine.handle(.bytesFound(key: "/\(number)", [0..<100_000]), atMilliseconds: 10)
    }
    let moved = engine.handle(.activeChanged("5"), atMilliseconds: 20)
    #expect(moved.others.filter { $0.hasPrefix("evict") } == [])
    let warned = engine.handle(.memoryWarned, atMilliseconds: 30)
    #expect(
      warned.others.map { String($0.prefix(8)) } == [
        "evict /0", "evict /1", "evict /2", "evict /3", "evict /9", "evict /8", "evict /4",
        "evict /7",
      ])
    #expect(engine.heldBytes == 200_000)
    #expect(engine.counts.evictedBytes == 800_000)
  }

  @Test func `the limit of what is held asks for memory, too`() {
    var (engine, _) = EngineSamples.engine(.endless, images) { $0.heldBytes = 400_000 }
    var evicted = 0
    for number in 0..<10 {
      evicted += engine.handle(.bytesFound(key: "/\(number)", [0..<100_000]), atMilliseconds: 10)
        .others.count { $0.hasPrefix("evict") }
      #expect(engine.heldBytes <= 400_000)
    }
    #expect(evicted > 0)
    #expect(engine.held("/0") == [0..<100_000])
  }

  @Test(arguments: EnginePropertyTests.strategies, [1_250_000, 1_050_000, 600_000])
  func `what would be evicted again is not loaded`(_ strategy: Policy.Strategy, _ heldBytes: Int) {
    // The active clip takes most of what may be held, or more.
    let items = [EngineSamples.clip(0)] + (1..<9).map { EngineSamples.image($0) }
    var (engine, actions) = EngineSamples.engine(strategy, items) { $0.heldBytes = heldBytes }
    var evicted: Set<String> = []
    for now in 1...40 {
      for action in actions { if case .evict(let key, _) = action.kind { evicted.insert(key) } }
      let next = actions.transfers
      #expect(next.allSatisfy { !evicted.contains($0.key) }, "\(actions)")
      actions = engine.arrive(next, at: now * 100)
      actions += engine.handle(
        .bytesFound(key: "/0", [0..<min(1_000_000, now * 100_000)]), atMilliseconds: now * 100)
    }
    #expect(engine.heldBytes <= max(heldBytes, 1_000_000))
  }

  @Test func `bytes that are held are not asked for again, also of a file of unknown size`() {
    var (engine, _) = EngineSamples.engine(.endless, [EngineSamples.image(0)])
    let page = PrefetchEvent.pageArrived(
      .below, items: [EngineSamples.image(1, bytes: nil)], hasPrevious: false, hasNext: false)
    _ = engine.handle(page, atMilliseconds: 10)
    _ = engine.handle(.bytesFound(key: "/1", [500..<900]), atMilliseconds: 20)
    let actions = engine.handle(.activeChanged("1"), atMilliseconds: 30)
    #expect(actions.fetches == ["/1 0..<500", "/1 900..<"])
  }

  @Test func `a transfer that rests does not go on with what has come meanwhile`() {
    // Found in the client's store: all of it, its beginning, what is behind it, nothing.
    for (found, more, ends) in [
      (0..<100_000, [], true), (0..<40_000, ["/0 40000..<100000"], true),
      (60_000..<100_000, [], false), (0..<0, [], false),
    ] as [(Range<Int>, [String], Bool)] {
      var (engine, actions) = EngineSamples.engine(.endless, [EngineSamples.image(0)])
      let id = actions.transfers[0].id
      actions = engine.handle(.backgroundChanged(true), atMilliseconds: 10)
      #expect(actions.others == ["pause \(id)"])
      actions = engine.handle(.bytesFound(key: "/0", [found]), atMilliseconds: 20)
      actions += engine.handle(.backgroundChanged(false), atMilliseconds: 30)
      #expect(actions.fetches == more, "\(found)")
      #expect(actions.others.contains("cancel \(id)") == ends, "\(found)")
      #expect(actions.others.contains("resume \(id)") != ends, "\(found)")
    }
  }

  @Test func `transfers' ids stay what JSON holds exactly`() {
    var moment = PrefetchSnapshot(policy: Policy(name: "", strategy: .plain(leading: 2)))
    moment.items = images
    moment.transfers = [
      .init(id: .max, item: "0", key: "/0", next: 0, end: 100_000),
      .init(id: 1, item: "1", key: "/1", next: 0, end: 100_000),
    ]
    var engine = PrefetchEngine(moment)
    #expect(engine.decide().transfers.map(\.id) == [PrefetchEngine.greatestTransfer + 1])
  }

  typealias Restrained = (event: PrefetchEvent, bytes: Int)

  @Test(
    arguments: [
      (.saveDataChanged(true), 0), (.networkChanged(isOnline: true, isMetered: true), 4_194_304),
      (.stressChanged(true), 2_097_152), (.networkChanged(isOnline: false, isMetered: false), 0),
      (.backgroundChanged(true), 0),
    ] as [Restrained])
  func `what is loaded ahead keeps within what the device and the person allow`(
    _ sample: Restrained
  ) {
    for strategy in EnginePropertyTests.strategies {
      var (engine, first) = EngineSamples.engine(
        strategy, (0..<30).map { EngineSamples.image($0, bytes: 900_000) })
      let ahead = first.transfers.filter { $0.item != "0" }
      let actions = engine.handle(sample.event, atMilliseconds: 10)
      #expect(engine.speculativeBytes <= sample.bytes, "\(strategy)")
      let stopped = actions.others.count { $0.hasPrefix("cancel") || $0.hasPrefix("pause") }
      if sample.bytes == 0 { #expect(stopped >= ahead.count, "\(strategy)") }
      #expect(engine.handle(.timerFired, atMilliseconds: 100).fetchedItems.allSatisfy { $0 == 0 })
    }
  }

  @Test func `bytes that come behind the person are not ahead, however long a session lasts`() {
    let items = (0..<30).map { EngineSamples.image($0) }
    var (engine, _) = EngineSamples.engine(.plain(leading: 3), items)
    func tell(_ event: PrefetchEvent) { _ = engine.handle(event, atMilliseconds: 10) }
    func arrive(_ number: Int, _ range: Range<Int>) {
      tell(.bytesArrived(transfer: 999, key: "/\(number)", range))
    }
    tell(.networkChanged(isOnline: false, isMetered: false))
    for number in 0..<20 {
      tell(.activeChanged("\(number + 1)"))
      arrive(number, 0..<50_000)
    }
    #expect(engine.speculativeBytes == 0)
    // What lies ahead is, until it is looked at or passed.
    arrive(22, 0..<50_000)
    arrive(25, 0..<50_000)
    #expect(engine.speculativeBytes == 100_000)
    tell(.activeChanged("23"))
    #expect(engine.speculativeBytes == 50_000)
    tell(.activeChanged("10"))
    arrive(12, 0..<50_000)
    arrive(22, 50_000..<100_000)
    #expect(engine.speculativeBytes == 50_000)
    // On the way back what was passed lies ahead again, and is bounded as such.
    arrive(5, 50_000..<100_000)
    #expect(engine.speculativeBytes == 100_000)
    tell(.activeChanged("4"))
    #expect(engine.speculativeBytes == 50_000)
    // A list that came anew has not been looked at.
    tell(.pageArrived(.anew, items: items, hasPrevious: false, hasNext: false))
    arrive(21, 0..<50_000)
    #expect(engine.speculativeBytes == 100_000)
  }

  @Test func `a file of unknown size is loaded to its end, and stopped where its start is there`() {
    let item = EngineSamples.item(1, .video, MediaLoad(kind: .video))
    var (engine, first) = EngineSamples.engine(
      .plain(leading: 1), [EngineSamples.image(0), item])
    #expect(first.fetches == ["/0 0..<100000", "/1 0..<"])
    let one = first.transfers[1]
    let enough = engine.handle(
      .bytesArrived(transfer: one.id, key: one.key, 0..<204_800), atMilliseconds: 10)
    #expect(enough.others == ["ready 1", "cancel \(one.id)"])
    _ = engine.handle(.sizeLearned(key: one.key, bytes: 500_000), atMilliseconds: 20)
    #expect(
      engine.handle(.activeChanged("1"), atMilliseconds: 30).fetches == ["/1 204800..<500000"])
  }

  @Test func `nothing is asked for past its time, and the page is asked for anew`() {
    var item = EngineSamples.image(1)
    item.expiresAtMilliseconds = 1_000
    var (engine, first) = EngineSamples.engine(
      .plain(leading: 1), [EngineSamples.image(0), item])
    #expect(first.last?.kind == .waitUntil(milliseconds: 1_000))
    let expired = engine.handle(.timerFired, atMilliseconds: 1_000)
    #expect(expired.others == ["cancel \(first.transfers[1].id)"])
    let active = engine.handle(.activeChanged("1"), atMilliseconds: 1_100)
    #expect(active.fetches == [])
    #expect(active.pages == [.around(distance: 0)])
  }

  @Test func `a file that changed is dropped and loaded anew, after a while`() {
    var (engine, first) = EngineSamples.engine(.endless, [EngineSamples.image(0)])
    let one = first.transfers[0]
    _ = engine.handle(
      .bytesArrived(transfer: one.id, key: one.key, 0..<70_000), atMilliseconds: 10)
    let changed = engine.handle(.transferFailed(one.id, .changed), atMilliseconds: 20)
    #expect(changed.others == ["evict /0 0..<70000"])
    #expect(engine.handle(.timerFired, atMilliseconds: 520).fetches == ["/0 0..<"])
  }
}
