import JSON
import Prefetch

extension JSONWriter {
  /// Writes the actions in their order, each with its reason.
  public mutating func actions(_ actions: [PrefetchAction]) {
    array { writer in for action in actions { writer.object { $0.members(of: action) } } }
  }

  private mutating func members(of action: PrefetchAction) {
    switch action.kind {
    case .fetch(let transfer):
      member("do", "fetch")
      member("transfer", transfer.id)
      member("item", transfer.item)
      member("media", transfer.media)
      member("variant", transfer.variant)
      member("key", transfer.key)
      if let end = transfer.end {
        range(transfer.start..<end)
      } else {
        member("from", transfer.start)
      }
      switch transfer.priority {
      case .urgent: member("priority", "urgent")
      case .active: member("priority", "active")
      case .ahead: member("priority", "ahead")
      }
    case .cancel(let id): transfer("cancel", id)
    case .pause(let id): transfer("pause", id)
    case .resume(let id): transfer("resume", id)
    case .askForPage(let place):
      member("do", "askForPage")
      self.place(place)
    case .showPlaceholder(let item): self.item("showPlaceholder", item)
    case .ready(let item): self.item("ready", item)
    case .showFrame(let item): self.item("showFrame", item)
    case .evict(let key, let range):
      member("do", "evict")
      member("key", key)
      self.range(range)
    case .waitUntil(let time):
      member("do", "waitUntil")
      member("at", time)
    }
    member("why", action.reason.description)
  }

  private mutating func transfer(_ name: String, _ id: Int) {
    member("do", name)
    member("transfer", id)
  }

  private mutating func item(_ name: String, _ id: String) {
    member("do", name)
    member("item", id)
  }

  /// Writes a range as its first and last byte.
  mutating func range(_ range: Range<Int>) {
    array("range") { writer in
      writer.integer(range.lowerBound)
      writer.integer(range.upperBound - 1)
    }
  }

  mutating func place(_ place: PrefetchPlace) {
    switch place {
    case .anew: member("place", "anew")
    case .below: member("place", "below")
    case .above: member("place", "above")
    case .around(let distance):
      member("place", "around")
      member("distance", distance)
    }
  }
}
