import Catalog
import Feed
import HTTP
import HTTPServer
import JSON
import PostJSON
import Prefetch
import Reports
import SHA2

/// Receives what clients report: parts as JSON, or lines of CMCD.
struct ReportsHandler: RouteHandler {
  let store: any PolicyStore
  let collector: ReportCollector
  let tokens: ReportTokens?
  let clients: ClientAddresses
  /// The limit of reports of an address; `nil` for no limit.
  let rate: RequestRate?
  let hour: @Sendable () -> Int

  /// The names of the query's parameters.
  static let parameters = ["feed", "policy", "arm", "token"]

  func answer(_ call: Call) throws {
    guard collector.settings.taken != .off else {
      throw Problem(.reportsOff, .gone, "This server does not accept reports; stop reporting.")
    }
    let form = try ReportForm(call.request.fields, call.request.body)
    let address = clients.address(call.request.fields, peer: call.responder.peer)
    try rate?.admit(address)
    let snapshot = try store.snapshot()
    let feed = call.parameters["feed"]
    if let feed { try Self.check(feed, snapshot) }
    let policy = try Self.name("policy", call.parameters)
    let arm = try Self.name("arm", call.parameters)
    var entries: [ReportCollector.Entry] = []
    // The tokens, by session.
    var presented: [ByteText: String] = [:]
    do throws(RecordError) {
      switch form {
      case .json:
        var part = try ReportPart(json: call.request.body)
        if part.feed.isEmpty { part.feed = feed ?? "" }
        presented[ByteText(part.session)] = part.token
        var entry = self.entry(part, session: part.session, of: "\(part.part)", snapshot)
        if let record = part.record {
          entry.log = try collector.recordings?.log(of: part, record, in: snapshot.policyBook)
        }
        entries = [entry]
      case .cmcd:
        let reports = try CMCDReport.reports(in: call.request.body)
        let last = reports.lazy.compactMap(\.time).max() ?? 0
        // A player need not give its bandwidth in each report.
        var downlinks: [ByteText: Int] = [:]
        for report in reports {
          if let token = report.token { presented[ByteText(report.session)] = token }
          guard let downlink = report.part.downlinkKbps else { continue }
          downlinks[report.session] = max(downlink, downlinks[report.session] ?? 0)
        }
        for report in reports {
          var part = report.part
          part.feed = feed ?? ""
          part.downlinkKbps = downlinks[report.session]
          part.policy = policy
          part.arm = arm
          // By the player's own clock, which may be wrong: the newest report counts as of now.
          part.ageMilliseconds = min(
            max(0, last - (report.time ?? last)), ReportLimits.ageMilliseconds)
          // A report without a sequence number is identified by its whole line.
          let identity =
            report.sequenceNumber.map { "cmcd \($0)" }
            ?? String(decoding: report.line, as: UTF8.self)
          entries.append(entry(part, session: report.session, of: identity, snapshot))
        }
      }
    } catch {
      var problem = Problem(
        .invalidRecord, .unprocessableContent, "The report is refused: \(error).")
      problem.field = error.field
      throw problem
    }
    if collector.settings.taken == .signed {
      try check(entries, presented, call.parameters["token"])
    }
    for entry in entries where !entry.key.feed.isEmpty { try Self.check(entry.key.feed, snapshot) }
    try collector.count(entries, from: address?.client.hashValue ?? 0)
    var fields = Fields()
    fields.append("Cache-Control", "no-store")
    fields.appendCORS()
    call.respond(Response(.accepted, fields: fields, bytes: []))
  }

  /// - Parameters:
  ///   - presented: tokens by session.
  ///   - token: the token of sessions that present none.
  /// - Throws: `Problem` 403 if a session has no valid token for its feed.
  private func check(
    _ entries: [ReportCollector.Entry], _ presented: [ByteText: String], _ token: String?
  ) throws {
    guard let tokens else { preconditionFailure("--reports signed has a key") }
    var checked: Set<ByteText> = []
    for entry in entries where checked.insert(entry.sessionName).inserted {
      try tokens.check(
        presented[entry.sessionName] ?? token, feed: entry.key.feed,
        session: entry.sessionName.text)
    }
  }

  /// A name in the query; empty if it is absent.
  private static func name(_ name: String, _ parameters: Parameters) throws -> String {
    let text = parameters[name] ?? ""
    guard text.utf8.count <= ReportLimits.nameBytes else {
      throw ParameterError(
        parameter: name,
        problem: "has \(text.utf8.count) bytes, more than \(ReportLimits.nameBytes)")
    }
    guard text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
      throw ParameterError(parameter: name, problem: "contains a control character")
    }
    return text
  }

  /// - Throws: `FeedError.unknownFeed`.
  private static func check(_ feed: String, _ snapshot: any StoreSnapshot) throws {
    guard snapshot.hasFeed(named: feed) else { throw FeedError.unknownFeed(feed) }
  }

  /// - Parameter identity: what identifies the part within its session.
  private func entry(
    _ part: ReportPart, session: String, of identity: String, _ snapshot: any StoreSnapshot
  ) -> ReportCollector.Entry {
    let networks = snapshot.policyBook.networks
    let query: NetworkQuery =
      part.downlinkKbps == nil && part.roundTripMilliseconds == nil
      ? .unknown
      : .measured(
        downlinkKbps: part.downlinkKbps, roundTripMilliseconds: part.roundTripMilliseconds)
    // A measured network takes precedence over a named one: it is what the session had.
    let network =
      query == .unknown
      ? part.profile.flatMap { networks.profile(for: .profile($0))?.name } ?? ""
      : networks.profile(for: query)?.name ?? ""
    let hash = SHA256.hash(Array("\(session)\0\(identity)".utf8))
    return ReportCollector.Entry(
      fingerprint: hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
      session: session.utf8.reduce(into: Hasher()) { $0.combine($1) }.finalize(),
      sessionName: ByteText(session),
      key: ReportCellKey(
        hour: hour() - part.ageMilliseconds / 3_600_000, feed: part.feed, policy: part.policy,
        arm: part.arm, network: network),
      cell: ReportCell(part), seen: part.seen)
  }
}

/// The format of a report.
private enum ReportForm {
  case json, cmcd

  /// A beacon (https://www.w3.org/TR/beacon/) has the type `text/plain`, so that it needs no preflight: its
  /// first byte decides.
  ///
  /// - Throws: `Problem` 415.
  init(_ fields: Fields, _ body: [UInt8]) throws(Problem) {
    if let coding = fields.combined("Content-Encoding"), coding.asciiLowercased != "identity" {
      throw Problem(
        .unsupportedMediaType, .unsupportedMediaType,
        "The body has the coding \(coding.prefix(40)); send reports without a coding.")
    }
    let type = fields.combined("Content-Type") ?? "text/plain"
    switch type.prefix(while: { $0 != ";" }).filter({ $0 != " " && $0 != "\t" }).asciiLowercased {
    case "application/json": self = .json
    case "application/cmcd": self = .cmcd
    case "text/plain":
      self = body.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{") ? .json : .cmcd
    default:
      throw Problem(
        .unsupportedMediaType, .unsupportedMediaType,
        "The body is \(type.prefix(80)); send application/json, application/cmcd or text/plain.")
    }
  }
}

/// Answers with recent reports of clients.
struct LiveHandler: RouteHandler {
  let store: any ReportStore & PolicyStore
  let settings: ReportSettings
  let outcomes: PolicyOutcomes
  let workers: RequestWorkers
  let encoding: BodyEncoding
  let hour: @Sendable () -> Int

  /// The names of the query's parameters.
  static let parameters = ["feed", "hours"]
  /// The default of `hours`.
  private static let usualHours = 24

  func answer(_ call: Call) throws {
    let feed = call.parameters["feed"]
    let hours =
      try call.parameters.number("hours", in: 1...settings.days * 24)
      ?? min(Self.usualHours, settings.days * 24)
    let snapshot = try store.snapshot()
    if let feed, !snapshot.hasFeed(named: feed) { throw FeedError.unknownFeed(feed) }
    let predicted = PolicyOutcome.predictions(of: snapshot.policyBook)
    let since = hour() + 1 - hours
    try workers.run(for: call) {
      call.attempt {
        let report = try LiveReport(
          sinceHour: since, leastSessions: settings.leastSessions, rates: settings.rates,
          outcomes: try outcomes.met(predicted), feed: feed
        ) { try store.readReportCells(since: since, $0) }
        var writer = JSONWriter(capacity: 8192)
        try writer.live(report, feed: feed, of: store)
        encoding.answer(Representation(writer.bytes, caching: .none), to: call)
      }
    }
  }
}

extension JSONWriter {
  /// Writes recent reports of clients; for all feeds also the worst files of the ledger, and how users watch
  /// clips.
  ///
  /// - Throws: what the store throws.
  package mutating func live(
    _ report: LiveReport, feed: String?, of store: any ReportStore
  ) throws {
    guard feed == nil else { return live(report) }
    let least = report.leastSessions
    live(
      report, files: try store.worstPromises(leastViews: least, limit: 20),
      clips: LearnedClips.all(try store.watchedClasses(), leastViews: least))
  }
}
