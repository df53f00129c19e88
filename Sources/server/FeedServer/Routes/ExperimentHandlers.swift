import Catalog
import Experiments
import Feed
import HTTP
import HTTPServer
import JSON
import Logging
import PostJSON
import Prefetch
import System

/// Answers with the newest experiments: the policies on trial, the steps with their reasons, and the findings
/// of running ones.
struct ExperimentsHandler: RouteHandler {
  let store: any ExperimentStore & ReportStore
  let workers: RequestWorkers
  let encoding: BodyEncoding
  let hour: @Sendable () -> Int

  func answer(_ call: Call) throws {
    try workers.run(for: call) {
      call.attempt {
        let ledger = try ExperimentLedger(store, atHour: hour(), onlyRunning: false)
        var writer = JSONWriter(capacity: 4_096)
        writer.experiments(ledger)
        encoding.answer(Representation(writer.bytes, caching: .none), to: call)
      }
    }
  }
}

/// Begins an experiment.
struct PostExperimentHandler: RouteHandler {
  let store: any ExperimentStore
  let workers: RequestWorkers
  let logger: Logger

  func answer(_ call: Call) throws {
    let writer = try call.writer()
    try writer.checkPolicies()
    try BodyType.record.check(call.request.fields)
    let trial = try NewTrial(body: call.request.body, by: writer.name)
    try workers.run(for: call) {
      call.answer {
        let id = try store.begin(trial, at: .now)
        logger.notice(
          "experiment started",
          metadata: [
            "experiment": .stringConvertible(id), "policy": .string(trial.setting.name),
            "feed": .string(trial.feed ?? ""), "network": .string(trial.network ?? ""),
            "by": .string(writer.name),
          ])
        var json = JSONWriter()
        json.object { $0.member("id", id) }
        var fields: Fields = [
          "Location": "/v1/experiments/\(id)", "Cache-Control": "no-store",
        ]
        fields.append(ContentType.json.fields)
        return Response(.created, fields: fields, bytes: json.bytes)
      }
    }
  }
}

/// Begins a suggested experiment.
struct BeginExperimentHandler: RouteHandler {
  let store: any ExperimentStore
  let workers: RequestWorkers
  let logger: Logger

  func answer(_ call: Call) throws {
    let writer = try call.writer()
    try writer.checkPolicies()
    guard let id = Int(digits: call.segment("experiment")) else {
      throw ExperimentError.unknown(0)
    }
    try workers.run(for: call) {
      call.answer {
        let begun = try store.begin(id, reason: "\(writer.name) began it", at: .now)
        logger.notice(
          "experiment started",
          metadata: [
            "experiment": .stringConvertible(id), "policy": .string(begun.setting.name),
            "feed": .string(begun.feed ?? ""), "network": .string(begun.network ?? ""),
            "by": .string(writer.name),
          ])
        return Response(.noContent, fields: ["Cache-Control": "no-store"])
      }
    }
  }
}

/// Stops a running experiment; if it has applied its policy, takes that back.
struct DeleteExperimentHandler: RouteHandler {
  let store: any ExperimentStore
  let workers: RequestWorkers
  let logger: Logger

  func answer(_ call: Call) throws {
    let writer = try call.writer()
    try writer.checkPolicies()
    guard let id = Int(digits: call.segment("experiment")) else {
      throw ExperimentError.unknown(0)
    }
    try workers.run(for: call) {
      call.answer {
        let kind = try store.end(id, reason: "\(writer.name) ended it", at: .now)
        logger.notice(
          "experiment \(kind.rawValue)",
          metadata: ["experiment": .stringConvertible(id), "by": .string(writer.name)])
        return Response(.noContent, fields: ["Cache-Control": "no-store"])
      }
    }
  }
}

extension Timestamp {
  /// The current time of the wall clock.
  package static var now: Timestamp {
    Timestamp(microseconds: Int64(WallClock.now.nanosecondsSince1970 / 1_000))
  }
}

extension ExperimentStore {
  /// Begins a suggested experiment.
  ///
  /// - Throws: `ExperimentError`, what the store throws.
  package func begin(
    _ id: Int, reason: String, at time: Timestamp
  ) throws -> PolicyExperiment {
    guard let experiment = try experiments(.one(id)).first else {
      throw ExperimentError.unknown(id)
    }
    try take(
      .started, sharePermille: experiment.limits.ramp[0],
      evidence: ExperimentDecision(.started, reason: reason).evidence(of: experiment), of: id,
      after: experiment.steps.last?.id, at: time)
    return experiment
  }

  /// Stops a running experiment; if it has applied its policy, takes that back.
  ///
  /// - Returns: the step that was taken.
  /// - Throws: `ExperimentError`, what the store throws.
  package func end(_ id: Int, reason: String, at time: Timestamp) throws -> ExperimentStep.Kind {
    let last = try experiments(.one(id)).first?.steps.last
    let kind: ExperimentStep.Kind = last?.kind == .applied ? .undone : .stopped
    try take(kind, of: id, after: last?.id, reason: reason, at: time)
    return kind
  }

  /// Takes a step that a user requests.
  ///
  /// - Parameter last: the step that must be the last one; `nil` for any.
  /// - Throws: `ExperimentError`, what the store throws.
  package func take(
    _ kind: ExperimentStep.Kind, of id: Int, after last: Int? = nil, reason: String,
    at time: Timestamp
  ) throws {
    guard let experiment = try experiments(.one(id)).first else {
      throw ExperimentError.unknown(id)
    }
    try take(
      kind, sharePermille: 0,
      evidence: ExperimentDecision(kind, reason: reason).evidence(of: experiment), of: id,
      after: last, at: time)
  }
}

extension NewTrial {
  private static let known: Set<String> = [
    "against", "days", "feed", "margin", "network", "reason", "share",
  ]
  private static let nameBytes = 200
  private static let reasonBytes = 500

  /// The trial in a body.
  ///
  /// - Throws: `Problem` 422, naming the field.
  fileprivate init(body: [UInt8], by writer: String) throws(Problem) {
    func refusal(_ field: String, _ words: String) -> Problem {
      var problem = Problem(
        .invalidRecord, .unprocessableContent, "The experiment is refused: \(field) \(words).")
      problem.field = field
      return problem
    }
    guard let root = try? JSONDocument(body, depthLimit: 4).root, root.kind == .object else {
      throw Problem(.invalidRecord, .unprocessableContent, "The experiment is not a JSON object.")
    }
    for member in root.members where !Self.known.contains(member.name) {
      var problem = refusal("\"\(member.name)\"", "is unknown")
      problem.field = member.name
      throw problem
    }
    func text(_ name: String, _ bytes: Int) throws(Problem) -> String? {
      guard let value = root.member(name), value.kind != .null else { return nil }
      guard let text = value.text, !text.isEmpty, text.utf8.count <= bytes else {
        throw refusal(name, "is not a string of 1 to \(bytes) bytes")
      }
      return text
    }
    func number(_ name: String, _ range: ClosedRange<Int>) throws(Problem) -> Int? {
      guard let value = root.member(name), value.kind != .null else { return nil }
      guard let number = value.wholeNumber, range.contains(number) else {
        throw refusal(name, "is not a whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }
    guard let against = try text("against", Self.nameBytes) else {
      throw refusal("against", "is missing")
    }
    var limits = ExperimentLimits()
    if let share = try number("share", 1...50) { limits.sharePermille = 10 * share }
    if let margin = try number("margin", ExperimentLimits.margins) {
      limits.marginPercent = margin
    }
    if let days = try number("days", ExperimentLimits.dayRange) { limits.days = days }
    let setting: Policy
    do throws(StrategyError) {
      setting = try Policy(text: against)
    } catch {
      throw refusal("against", "is not a policy: \(error)")
    }
    self.init(
      feed: try text("feed", Self.nameBytes), network: try text("network", Self.nameBytes),
      setting: setting, limits: limits,
      reason: try text("reason", Self.reasonBytes) ?? "\(writer) began it")
  }
}
