import Feed
import JSON
import Prefetch

/// The events of the engine, in the form that `PrefetchEvent.decode` reads.
extension JSONWriter {
  /// Writes an event with its time, as an object.
  public mutating func event(_ event: PrefetchEvent, at milliseconds: Int) {
    object { writer in
      writer.member("at", milliseconds)
      writer.members(of: event)
    }
  }

  private mutating func members(of event: PrefetchEvent) {
    switch event {
    case .pageArrived(let place, let items, let hasPrevious, let hasNext):
      member("event", "pageArrived")
      self.place(place)
      array("items") { writer in for item in items { writer.planItem(item) } }
      flag("hasPrevious", hasPrevious)
      flag("hasNext", hasNext)
    case .pageFailed(let place, let retryAfter):
      member("event", "pageFailed")
      self.place(place)
      member("retryAfterMs", retryAfter)
    case .itemsRemoved(let ids): list("itemsRemoved", ids)
    case .itemsReordered(let ids): list("itemsReordered", ids)
    case .activeChanged(let item):
      member("event", "activeChanged")
      member("item", item)
    case .scrolled(let speed, let stop):
      member("event", "scrolled")
      member("milliitemsPerSecond", speed)
      member("stopDistance", stop)
    case .bytesFound(let key, let ranges):
      member("event", "bytesFound")
      member("key", key)
      pairs("ranges", ranges) { ($0.lowerBound, $0.upperBound - 1) }
    case .bytesArrived(let id, let key, let range):
      member("event", "bytesArrived")
      member("transfer", id)
      member("key", key)
      self.range(range)
    case .sizeLearned(let key, let bytes):
      member("event", "sizeLearned")
      member("key", key)
      member("bytes", bytes)
    case .transferFinished(let id):
      member("event", "transferFinished")
      member("transfer", id)
    case .transferFailed(let id, let failure):
      member("event", "transferFailed")
      member("transfer", id)
      self.failure(failure)
    case .bandwidthMeasured(let kilobits, let roundTrip):
      member("event", "bandwidthMeasured")
      member("downlink", kilobits)
      member("rtt", roundTrip)
    case .playbackMoved(let milliseconds, let playback):
      member("event", "playbackMoved")
      member("ms", milliseconds)
      member("state", playback.rawValue)
    case .networkChanged(let isOnline, let isMetered):
      member("event", "networkChanged")
      flag("online", isOnline)
      flag("metered", isMetered)
    case .saveDataChanged(let holds): condition("saveDataChanged", holds)
    case .stressChanged(let holds): condition("stressChanged", holds)
    case .backgroundChanged(let holds): condition("backgroundChanged", holds)
    case .memoryWarned: member("event", "memoryWarned")
    case .timerFired: member("event", "timerFired")
    }
  }

  private mutating func failure(_ failure: TransferFailure) {
    switch failure {
    case .network: member("failure", "network")
    case .busy(let retryAfter):
      member("failure", "busy")
      member("retryAfterMs", retryAfter.map { min(max($0, 0), 86_400_000) })
    case .gone: member("failure", "gone")
    case .changed: member("failure", "changed")
    }
  }

  private mutating func condition(_ name: String, _ holds: Bool) {
    member("event", name)
    flag("on", holds)
  }

  private mutating func list(_ name: String, _ ids: [String]) {
    member("event", name)
    array("items") { writer in for id in ids { writer.string(id) } }
  }

  mutating func flag(_ name: StaticString, _ holds: Bool) {
    key(name)
    boolean(holds)
  }

  // MARK: Items

  /// Writes an item of a state or page of the engine, in the form that `PrefetchItem(json:)` reads.
  mutating func planItem(_ item: PrefetchItem) {
    object { writer in
      writer.member("id", item.id)
      writer.member("type", item.type.rawValue)
      writer.array("media") { writer in for media in item.media { writer.planMedia(media) } }
      writer.member("expiresAt", item.expiresAtMilliseconds)
      writer.pairs("survival", item.survival) { ($0.milliseconds, $0.permille) }
    }
  }

  private mutating func planMedia(_ media: PrefetchMedia) {
    guard media.files.count != 1 else { return planFile(media.files[0]) }
    array { writer in
      for file in media.files.prefix(PlanLimits.variants) { writer.planFile(file) }
    }
  }

  private mutating func planFile(_ file: PrefetchFile) {
    object { writer in
      writer.member("key", file.key)
      writer.member("kind", file.load.kind.rawValue)
      writer.member("bytes", file.load.bytes)
      writer.member("durationMs", file.load.durationMilliseconds)
      writer.member("chunkMs", file.chunkMilliseconds)
      if let timing = file.load.timing {
        writer.key("start")
        writer.timing(timing)
      }
    }
  }
}
