import Feed
import JSON
import Reports

extension ReportPart {
  private static let known = [
    "ageMs", "arm", "before", "bytes", "client", "feed", "frameMs", "items", "loaders", "network",
    "part", "plans", "policy", "record", "requests", "seen", "session", "since", "stalledMs",
    "stalls", "token", "until", "waitMs",
  ]

  /// Decodes a part from JSON.
  ///
  /// - Throws: `RecordError`, which names the field.
  public init(json bytes: [UInt8]) throws(RecordError) {
    let root: JSONValue
    do throws(JSONError) {
      root = try JSONDocument(bytes, depthLimit: 4).root
    } catch {
      throw RecordError(field: "", problem: "is not JSON: \(error)")
    }
    let fields = try RecordFields(root, known: Self.known)
    let session = try fields.name("session", limit: .bytes(ReportLimits.sessionBytes.upperBound))
    guard session.utf8.count >= ReportLimits.sessionBytes.lowerBound else {
      throw fields.error(
        "session",
        "has \(session.utf8.count) bytes, fewer than \(ReportLimits.sessionBytes.lowerBound)")
    }
    guard let part = try fields.number("part", in: 0...ReportLimits.parts - 1) else {
      throw fields.error("part", "is missing")
    }
    self.init(session: session, part: part)
    ageMilliseconds = try fields.number("ageMs", in: 0...ReportLimits.ageMilliseconds) ?? 0
    feed = try Self.name(fields, "feed", RecordLimits.feedNameBytes)
    policy = try Self.name(fields, "policy", ReportLimits.nameBytes)
    arm = try Self.name(fields, "arm", ReportLimits.nameBytes)
    client = try Self.name(fields, "client", ReportLimits.nameBytes)
    token = try fields.text("token", limit: .bytes(ReportLimits.tokenBytes))
    if fields.has("network") {
      let network = try RecordFields(
        try fields.value("network"), known: ["downlink", "profile", "rtt"])
      downlinkKbps = try network.number("downlink", in: 0...RecordLimits.number)
      roundTripMilliseconds = try network.number("rtt", in: 0...RecordLimits.number)
      profile = try network.text("profile", limit: .bytes(ReportLimits.nameBytes))
    }
    let sessionTime = 0...ReportLimits.sessionMilliseconds
    sinceMilliseconds = try fields.number("since", in: sessionTime) ?? 0
    untilMilliseconds =
      try fields.number("until", in: sessionTime) ?? ReportLimits.sessionMilliseconds
    try readFigures(fields)
    if fields.has("before") { before = try SessionTotals(json: fields.value("before")) }
    seen = try fields.list("seen", limit: ReportLimits.seen) { value throws(RecordError) in
      try SeenItem(json: value)
    }
    record = try fields.text("record", limit: .bytes(ReportLimits.recordBytes))
    if let (field, problem) = problem { throw fields.error(field, problem) }
  }
}

extension ReportPart {
  private static func name(
    _ fields: RecordFields, _ name: String, _ bytes: Int
  ) throws(RecordError) -> String {
    guard let text = try fields.text(name, limit: .bytes(bytes)) else { return "" }
    if let problem = text.problemAsName { throw fields.error(name, problem) }
    return text
  }

  private mutating func readFigures(_ fields: RecordFields) throws(RecordError) {
    let events = 0...ReportLimits.events
    figures.items = try fields.number("items", in: 0...ReportLimits.items) ?? 0
    if fields.has("loaders") {
      let loaders = try RecordFields(
        try fields.value("loaders"), known: LoaderKind.allCases.map { "\($0.name)" })
      for kind in LoaderKind.allCases {
        figures.loaders[kind] = try loaders.number("\(kind.name)", in: events) ?? 0
      }
    }
    figures.waits = try Self.bins(fields, "waitMs")
    figures.frames = try Self.bins(fields, "frameMs")
    figures.stalls = try fields.number("stalls", in: events) ?? 0
    figures.stalledMilliseconds =
      try fields.number("stalledMs", in: 0...ReportLimits.sessionMilliseconds) ?? 0
    if fields.has("bytes") {
      let bytes = try RecordFields(
        try fields.value("bytes"), known: ByteFate.allCases.map { "\($0.name)" })
      for fate in ByteFate.allCases {
        figures.bytes[fate] = try bytes.number("\(fate.name)", in: 0...ReportLimits.bytes) ?? 0
      }
    }
    figures.requests = try fields.number("requests", in: events) ?? 0
    figures.plans = try fields.number("plans", in: events) ?? 0
  }

  /// Decodes pairs of a bin and the number of durations in it.
  private static func bins(
    _ fields: RecordFields, _ name: String
  ) throws(RecordError) -> DurationBins {
    var bins = DurationBins()
    _ = try fields.list(name, limit: DurationBins.count) { pair throws(RecordError) -> Void in
      let values = Array(try pair.checked(as: .array).elements)
      guard values.count == 2 else { throw pair.error("is not a pair of a bin and a count") }
      let (bin, number) = (try values[0].checkedNumber(), try values[1].checkedNumber())
      guard (0..<DurationBins.count).contains(bin) else {
        throw values[0].error("\(bin) is not a bin of 0…\(DurationBins.count - 1)")
      }
      guard (1...ReportLimits.events).contains(number) else {
        throw values[1].error("\(number) is not in 1…\(ReportLimits.events)")
      }
      bins.add(number, inBin: bin)
    }
    return bins
  }
}

extension SessionTotals {
  fileprivate init(json value: JSONValue) throws(RecordError) {
    let fields = try RecordFields(value, known: SessionMeasure.allCases.map { "\($0.name)" })
    self.init()
    for measure in SessionMeasure.allCases {
      self[measure] =
        try fields.number("\(measure.name)", in: 0...ReportLimits.total(of: measure)) ?? 0
    }
  }
}

extension SeenItem {
  private static let known = [
    "frameMs", "heldBytes", "id", "leftWaiting", "neededBytes", "readyMs", "variant", "version",
    "watchedMs",
  ]

  fileprivate init(json value: JSONValue) throws(RecordError) {
    let fields = try RecordFields(value, known: Self.known)
    self.init(id: try fields.name("id", limit: .bytes(RecordLimits.idBytes)))
    let bytes = 0...RecordLimits.fileBytes
    let time = 0...ReportLimits.sessionMilliseconds
    variant = try fields.number("variant", in: 0...MediaVariant.limit - 1)
    version = try fields.text("version", limit: .bytes(MediaVersion.markBytes))
    heldBytes = try fields.number("heldBytes", in: bytes) ?? 0
    neededBytes = try fields.number("neededBytes", in: bytes) ?? 0
    readyMilliseconds = try fields.number("readyMs", in: time)
    frameMilliseconds = try fields.number("frameMs", in: time)
    watchedMilliseconds = try fields.number("watchedMs", in: time) ?? 0
    hasLeftWaiting = try fields.boolean("leftWaiting") ?? false
  }
}

extension JSONWriter {
  private mutating func seen(_ item: SeenItem) {
    object { writer in
      writer.member("id", item.id)
      writer.member("variant", item.variant)
      writer.member("version", item.version)
      writer.memberUnlessZero("heldBytes", item.heldBytes)
      writer.memberUnlessZero("neededBytes", item.neededBytes)
      writer.member("readyMs", item.readyMilliseconds)
      writer.member("frameMs", item.frameMilliseconds)
      writer.memberUnlessZero("watchedMs", item.watchedMilliseconds)
      if item.hasLeftWaiting {
        writer.key("leftWaiting")
        writer.boolean(true)
      }
    }
  }

  /// Writes a part as its client sends it; omits what is zero or unknown.
  public mutating func part(_ part: ReportPart) {
    object { writer in
      writer.member("session", part.session)
      writer.member("part", part.part)
      writer.memberUnlessZero("ageMs", part.ageMilliseconds)
      writer.memberUnlessEmpty("feed", part.feed)
      writer.memberUnlessEmpty("policy", part.policy)
      writer.memberUnlessEmpty("arm", part.arm)
      writer.memberUnlessEmpty("client", part.client)
      writer.member("token", part.token)
      if part.downlinkKbps != nil || part.roundTripMilliseconds != nil || part.profile != nil {
        writer.object("network") { writer in
          writer.member("downlink", part.downlinkKbps)
          writer.member("rtt", part.roundTripMilliseconds)
          writer.member("profile", part.profile)
        }
      }
      writer.member("since", part.sinceMilliseconds)
      writer.member("until", part.untilMilliseconds)
      writer.figures(part.figures)
      if let before = part.before, before != SessionTotals() {
        writer.object("before") { writer in
          for measure in SessionMeasure.allCases {
            writer.memberUnlessZero(measure.name, before[measure])
          }
        }
      }
      if !part.seen.isEmpty {
        writer.array("seen") { writer in for item in part.seen { writer.seen(item) } }
      }
      writer.member("record", part.record)
    }
  }

  /// Writes figures as members; omits what is zero.
  private mutating func figures(_ figures: ReportFigures) {
    member("items", figures.items)
    if figures.loaders.total > 0 {
      object("loaders") { writer in
        for kind in LoaderKind.allCases {
          writer.memberUnlessZero(kind.name, figures.loaders[kind])
        }
      }
    }
    if !figures.waits.isEmpty {
      key("waitMs")
      bins(figures.waits)
    }
    if !figures.frames.isEmpty {
      key("frameMs")
      bins(figures.frames)
    }
    memberUnlessZero("stalls", figures.stalls)
    memberUnlessZero("stalledMs", figures.stalledMilliseconds)
    if figures.bytes.total > 0 {
      object("bytes") { writer in
        for fate in ByteFate.allCases { writer.memberUnlessZero(fate.name, figures.bytes[fate]) }
      }
    }
    memberUnlessZero("requests", figures.requests)
    memberUnlessZero("plans", figures.plans)
  }

  /// Writes pairs of a bin and the number of durations in it.
  public mutating func bins(_ bins: DurationBins) {
    array { writer in
      for (bin, number) in bins.counts.enumerated() where number > 0 {
        writer.array { writer in
          writer.integer(bin)
          writer.integer(number)
        }
      }
    }
  }

  private mutating func memberUnlessZero(_ name: StaticString, _ value: Int) {
    if value != 0 { member(name, value) }
  }

  private mutating func memberUnlessEmpty(_ name: StaticString, _ value: String) {
    if !value.isEmpty { member(name, value) }
  }
}
