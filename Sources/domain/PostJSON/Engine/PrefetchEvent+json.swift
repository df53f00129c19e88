import Feed
import JSON
import Prefetch

extension PrefetchEvent {
  /// The names of events and the fields of each.
  private static let fields: [(name: String, fields: [String])] = [
    ("pageArrived", ["distance", "hasNext", "hasPrevious", "items", "place"]),
    ("pageFailed", ["distance", "place", "retryAfterMs"]),
    ("itemsRemoved", ["items"]), ("itemsReordered", ["items"]), ("activeChanged", ["item"]),
    ("scrolled", ["milliitemsPerSecond", "stopDistance"]), ("bytesFound", ["key", "ranges"]),
    ("bytesArrived", ["key", "range", "transfer"]), ("sizeLearned", ["bytes", "key"]),
    ("transferFinished", ["transfer"]),
    ("transferFailed", ["failure", "retryAfterMs", "transfer"]),
    ("bandwidthMeasured", ["downlink", "rtt"]), ("playbackMoved", ["ms", "state"]),
    ("networkChanged", ["metered", "online"]), ("saveDataChanged", ["on"]),
    ("stressChanged", ["on"]), ("backgroundChanged", ["on"]), ("memoryWarned", []),
    ("timerFired", []),
  ]

  /// Decodes an event: its name in `event`, its values beside it, and its time in `at`.
  ///
  /// - Throws: `RecordError`, which names the field.
  public static func decode(_ json: JSONValue) throws(RecordError) -> (event: Self, at: Int) {
    let object = try json.checked(as: .object)
    guard let value = object.member("event") else {
      throw RecordError(field: "event", problem: "is missing")
    }
    let name = try value.checkedText(.bytes(40))
    guard let known = Self.fields.first(where: { $0.name.isSame(as: name) }) else {
      let names = Self.fields.map(\.name).joined(separator: ", ")
      throw value.error("\"\(name)\" is not one of \(names)")
    }
    let fields = try RecordFields(json, known: (known.fields + ["at", "event"]).sorted())
    return (
      try event(known.name, fields),
      try fields.required("at", in: 0...PrefetchEngine.lastMilliseconds)
    )
  }

  private static func event(
    _ name: String, _ fields: RecordFields
  ) throws(RecordError) -> PrefetchEvent {
    switch name {
    case "pageArrived":
      return .pageArrived(
        try place(fields),
        items: try fields.list("items", limit: PlanLimits.items) { value throws(RecordError) in
          try PrefetchItem(json: value)
        },
        hasPrevious: try fields.boolean("hasPrevious") ?? false,
        hasNext: try fields.boolean("hasNext") ?? false)
    case "pageFailed":
      return .pageFailed(try place(fields), retryAfterMilliseconds: try fields.retryAfter())
    case "itemsRemoved": return .itemsRemoved(try fields.ids("items"))
    case "itemsReordered": return .itemsReordered(try fields.ids("items"))
    case "activeChanged":
      return .activeChanged(try fields.name("item", limit: .bytes(RecordLimits.idBytes)))
    case "scrolled":
      return .scrolled(
        milliitemsPerSecond: try fields.required(
          "milliitemsPerSecond", in: -1_000_000_000...1_000_000_000),
        stopDistance: try fields.number("stopDistance", in: -1_000_000...1_000_000))
    case "bytesFound": return .bytesFound(key: try fields.key(), try fields.ranges("ranges"))
    case "bytesArrived":
      return .bytesArrived(
        transfer: try fields.transfer(), key: try fields.key(),
        try fields.value("range").range())
    case "sizeLearned":
      return .sizeLearned(
        key: try fields.key(), bytes: try fields.required("bytes", in: 0...RecordLimits.fileBytes))
    case "transferFinished": return .transferFinished(try fields.transfer())
    case "transferFailed": return .transferFailed(try fields.transfer(), try failure(fields))
    default: return try condition(name, fields)
    }
  }

  /// Decodes the events of the user, the network and the device.
  private static func condition(
    _ name: String, _ fields: RecordFields
  ) throws(RecordError) -> PrefetchEvent {
    switch name {
    case "bandwidthMeasured":
      return .bandwidthMeasured(
        kilobitsPerSecond: try fields.required("downlink", in: 0...1_000_000_000),
        roundTripMilliseconds: try fields.number("rtt", in: 0...600_000))
    case "playbackMoved":
      return .playbackMoved(
        milliseconds: try fields.required("ms", in: 0...RecordLimits.number),
        try fields.option("state"))
    case "networkChanged":
      return .networkChanged(
        isOnline: try fields.boolean("online") ?? true,
        isMetered: try fields.boolean("metered") ?? false)
    case "saveDataChanged": return .saveDataChanged(try fields.on())
    case "stressChanged": return .stressChanged(try fields.on())
    case "backgroundChanged": return .backgroundChanged(try fields.on())
    case "memoryWarned": return .memoryWarned
    default: return .timerFired
    }
  }

  private enum Place: String, CaseIterable {
    case anew, below, above, around
  }

  private static func place(_ fields: RecordFields) throws(RecordError) -> PrefetchPlace {
    let place: Place = try fields.option("place")
    if place != .around, fields.has("distance") {
      throw fields.error("distance", "is only for the place around")
    }
    switch place {
    case .anew: return .anew
    case .below: return .below
    case .above: return .above
    case .around:
      return .around(distance: try fields.required("distance", in: -1_000_000...1_000_000))
    }
  }

  private enum Failure: String, CaseIterable {
    case network, busy, gone, changed
  }

  private static func failure(_ fields: RecordFields) throws(RecordError) -> TransferFailure {
    let failure: Failure = try fields.option("failure")
    if failure != .busy, fields.has("retryAfterMs") {
      throw fields.error("retryAfterMs", "is only for the failure busy")
    }
    switch failure {
    case .network: return .network
    case .busy: return .busy(retryAfterMilliseconds: try fields.retryAfter())
    case .gone: return .gone
    case .changed: return .changed
    }
  }
}

extension RecordFields {
  /// Decodes a required integer in the range.
  func required(_ name: String, in range: ClosedRange<Int>) throws(RecordError) -> Int {
    guard let number = try number(name, in: range) else { throw error(name, "is missing") }
    return number
  }

  fileprivate func retryAfter() throws(RecordError) -> Int? {
    try number("retryAfterMs", in: 0...86_400_000)
  }

  fileprivate func transfer() throws(RecordError) -> Int {
    try required("transfer", in: 0...RecordLimits.number)
  }

  func key() throws(RecordError) -> String {
    try name("key", limit: .bytes(PlanLimits.keyBytes))
  }

  fileprivate func on() throws(RecordError) -> Bool {
    guard let value = try boolean("on") else { throw error("on", "is missing") }
    return value
  }

  func ids(
    _ name: String, limit: Int = PlanLimits.items
  ) throws(RecordError) -> [String] {
    try list(name, limit: limit) { value throws(RecordError) in try value.id() }
  }
}

extension JSONValue {
  /// Decodes an item's id.
  func id() throws(RecordError) -> String {
    let text = try checkedText(.bytes(RecordLimits.idBytes))
    if let problem = text.problemAsName { throw error(problem) }
    return text
  }
}
