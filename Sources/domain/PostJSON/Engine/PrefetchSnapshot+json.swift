import Feed
import JSON
import Prefetch

/// A client's state, decoded from JSON, before a server adds what it knows about the items.
public struct PlanRequest: Sendable {
  /// The feed. With the measured figures of the network it selects a policy.
  public var feed: String?
  /// The measured bandwidth in kilobits per second.
  public var downlinkKbps: Int?
  /// The measured round-trip time in milliseconds.
  public var roundTripMilliseconds: Int?
  /// The arm of the experiment on the policy in force, if there is one.
  public var arm = ExperimentArm.a
  /// The strategy that the client names; `nil` for the one in force.
  public var strategy: Policy.Strategy?
  /// The state; its policy is that of the strategy, or one that loads nothing ahead.
  public var snapshot: PrefetchSnapshot
  /// The number of items that the user scrolls per minute; `nil` for the policy's.
  public var itemsPerMinute: Int?
  /// The ids of the items, if the client sends only ids.
  public var itemIDs: [String] = []
  /// Whether the client states that the user has just reached the active item: `activeForMs` is 0.
  public var hasJustArrived = false
}

extension PlanRequest {
  private static let known = [
    "active", "activeForMs", "arm", "at", "background", "direction", "feed", "hasNext",
    "hasPrevious",
    "held", "items", "itemsPerMinute", "network", "playback", "saveData", "scroll", "settings",
    "strategy", "stress", "transfers",
  ]

  /// Decodes a state.
  ///
  /// - Parameter byID: Whether the items are ids, which a server completes; otherwise they are complete.
  /// - Throws: `RecordError`, which names the field.
  public init(body: [UInt8], byID: Bool) throws(RecordError) {
    let document: JSONDocument
    do throws(JSONError) {
      document = try JSONDocument(body, depthLimit: RecordLimits.depth)
    } catch {
      throw RecordError(field: "", problem: "is not JSON: \(error)")
    }
    try self.init(json: document.root, byID: byID)
  }

  /// Decodes a state.
  ///
  /// - Parameter byID: Whether the items are ids, which a server completes; otherwise they are complete.
  /// - Throws: `RecordError`, which names the field.
  public init(json: JSONValue, byID: Bool) throws(RecordError) {
    let fields = try RecordFields(json, known: Self.known)
    let strategy: Policy.Strategy? =
      try fields.has("strategy") ? Self.strategy(fields.value("strategy")) : nil
    if strategy == nil, !byID { throw fields.error("strategy", "is missing") }
    let own = strategy ?? .plain(leading: 0)
    var snapshot = PrefetchSnapshot(policy: Policy(name: own.name, strategy: own))
    itemsPerMinute = try fields.number("itemsPerMinute", in: 1...60_000)
    if let itemsPerMinute { snapshot.policy.itemsPerMinute = itemsPerMinute }
    snapshot.settings = try Self.settings(fields)
    snapshot.atMilliseconds =
      try fields.number("at", in: 0...PrefetchEngine.lastMilliseconds) ?? 0
    if byID {
      itemIDs = try fields.ids("items", limit: PlanLimits.namedItems)
    } else {
      snapshot.items = try fields.list("items", limit: PlanLimits.items) {
        value throws(RecordError) in try PrefetchItem(json: value)
      }
    }
    let ids = byID ? itemIDs : snapshot.items.map(\.id)
    var seen: Set<ByteText> = []
    for (index, id) in ids.enumerated() where !seen.insert(ByteText(id)).inserted {
      throw fields.error("items", at: index, "is \"\(id.excerpt(characters: 40))\", a duplicate")
    }
    if fields.has("active") {
      let value = try fields.value("active")
      let id = try value.id()
      guard seen.contains(id) else { throw value.error("is not one of the items") }
      snapshot.active = id
    }
    snapshot.hasPrevious = try fields.boolean("hasPrevious") ?? false
    snapshot.hasNext = try fields.boolean("hasNext") ?? false
    snapshot.activeMilliseconds =
      try fields.number("activeForMs", in: 0...RecordLimits.number) ?? 0
    if fields.has("direction") {
      let direction: Direction = try fields.option("direction")
      snapshot.isGoingUp = direction == .up
    }
    snapshot.held = try fields.list("held", limit: PlanLimits.files) { value throws(RecordError) in
      let held = try RecordFields(value, known: ["bytes", "key", "ranges"])
      return PrefetchSnapshot.Held(
        key: try held.key(), ranges: try held.ranges("ranges"),
        fileBytes: try held.number("bytes", in: 0...RecordLimits.fileBytes))
    }
    snapshot.transfers = try fields.list("transfers", limit: 128) { value throws(RecordError) in
      try Self.transfer(value, seen)
    }
    for (index, transfer) in snapshot.transfers.enumerated()
    where snapshot.transfers[..<index].contains(where: { $0.id == transfer.id }) {
      throw fields.error("transfers", at: index, "has the id \(transfer.id) of another transfer")
    }
    hasJustArrived =
      snapshot.active != nil && fields.has("activeForMs") && snapshot.activeMilliseconds == 0
    self.strategy = strategy
    self.snapshot = snapshot
    if fields.has("feed") {
      feed = try fields.name("feed", limit: .bytes(RecordLimits.feedNameBytes))
    }
    // An unknown arm counts as `a`, as on pages.
    arm = try fields.text("arm", limit: .bytes(1)).flatMap(ExperimentArm.init(rawValue:)) ?? .a
    try takeConditions(fields)
  }

  enum Direction: String, CaseIterable {
    case down, up
  }

  private static func strategy(_ value: JSONValue) throws(RecordError) -> Policy.Strategy {
    let fields = try RecordFields(value, known: ["name", "parameters"])
    var parameters: [String: Int] = [:]
    if fields.has("parameters") {
      for member in try fields.value("parameters").checked(as: .object).members {
        parameters[member.name] = try member.value.checkedNumber()
      }
    }
    let name = try fields.name("name", limit: .bytes(100))
    do throws(StrategyError) {
      return try Policy.Strategy(name: name, parameters: parameters)
    } catch {
      switch error {
      case .unknown: throw fields.error("name", "\(error)")
      case .superfluous(let parameter), .outOfRange(let parameter, _, _):
        throw try RecordFields(fields.value("parameters"), known: nil).error(parameter, "\(error)")
      case .unreadable: throw value.error("\(error)")
      }
    }
  }

  private static func settings(_ fields: RecordFields) throws(RecordError) -> PrefetchSettings {
    var settings = PrefetchSettings()
    guard fields.has("settings") else { return settings }
    let own = try RecordFields(
      fields.value("settings"), known: PrefetchSettings.all.map(\.name).sorted())
    for setting in PrefetchSettings.all {
      if let number = try own.number(setting.name, in: setting.range) {
        setting.set(number, in: &settings)
      }
    }
    return settings
  }

  private static func transfer(
    _ value: JSONValue, _ items: Set<ByteText>
  ) throws(RecordError) -> PrefetchSnapshot.Running {
    let fields = try RecordFields(value, known: ["from", "id", "item", "key", "paused", "range"])
    let id = try fields.required("id", in: 1...PrefetchEngine.greatestTransfer)
    let item = try fields.value("item").id()
    guard items.contains(item) else { throw fields.error("item", "is not one of the items") }
    let from = try fields.number("from", in: 0...RecordLimits.fileBytes)
    guard from == nil || !fields.has("range") else {
      throw fields.error("from", "is only for a file without a known end, but there is a range")
    }
    guard from != nil || fields.has("range") else {
      throw fields.error("range", "is missing; for a file without a known end, use from")
    }
    let range: Range<Int>? = try fields.has("range") ? fields.value("range").range() : nil
    return PrefetchSnapshot.Running(
      id: id, item: item, key: try fields.key(), next: range?.lowerBound ?? from ?? 0,
      end: range?.upperBound, isPaused: try fields.boolean("paused") ?? false)
  }

  /// Decodes the current conditions, as the events that would report them.
  private mutating func takeConditions(_ fields: RecordFields) throws(RecordError) {
    if fields.has("network") {
      let network = try RecordFields(
        fields.value("network"), known: ["downlink", "metered", "online", "rtt"])
      downlinkKbps = try network.number("downlink", in: 0...1_000_000_000)
      roundTripMilliseconds = try network.number("rtt", in: 0...600_000)
      snapshot.downlinkKbps = downlinkKbps.map { max(1, $0) }
      if let roundTripMilliseconds {
        snapshot.settings.roundTripMilliseconds = roundTripMilliseconds
      }
      snapshot.conditions.append(
        .networkChanged(
          isOnline: try network.boolean("online") ?? (downlinkKbps != 0),
          isMetered: try network.boolean("metered") ?? false))
    }
    for (name, event) in [
      ("saveData", PrefetchEvent.saveDataChanged), ("stress", PrefetchEvent.stressChanged),
      ("background", PrefetchEvent.backgroundChanged),
    ] {
      if let holds = try fields.boolean(name) { snapshot.conditions.append(event(holds)) }
    }
    if fields.has("playback") {
      let playback = try RecordFields(fields.value("playback"), known: ["ms", "state"])
      snapshot.conditions.append(
        .playbackMoved(
          milliseconds: try playback.required("ms", in: 0...RecordLimits.number),
          try playback.option("state")))
    }
    guard fields.has("scroll") else { return }
    let scroll = try RecordFields(
      fields.value("scroll"), known: ["milliitemsPerSecond", "stopDistance"])
    snapshot.conditions.append(
      .scrolled(
        milliitemsPerSecond: try scroll.required(
          "milliitemsPerSecond", in: -1_000_000_000...1_000_000_000),
        stopDistance: try scroll.number("stopDistance", in: -1_000_000...1_000_000)))
  }
}
