import ArgumentParser
import Service
import Foundation
import Logging
import TestSupport
import Testing

@testable import lookahead

/// Every number that an option takes has a range, is refused in words outside of it, and harms nobody
/// within it. The options are those of the settings' list, so that a new one is among them by itself.
@Suite struct NumberRangeTests {
  /// Options of other commands than `serve`.
  static let ofOtherCommands: Set = [
    "generate", "keep-posts", "older-than", "timeout-milliseconds",
    "probe-timeout-milliseconds", "probe-memory-bytes", "probe-url-bytes", "jobs",
    "items", "repeats", "seed", "margin", "precision", "budget-kilobytes", "megabyte-loaders",
    "hours", "share", "margin-percent", "again-days", "days",
    "rendition-timeout-milliseconds", "rendition-memory-bytes",
  ]

  private static func parse(_ arguments: [String]) throws -> ServeSettings {
    try ServeSettings.parse(arguments)
  }

  private static func numbers() throws -> [(name: String, range: ClosedRange<Int>)] {
    try parse([]).list.compactMap { setting in
      guard case .number(let number) = setting.value else { return nil }
      let range = try #require(setting.row?.range, "--\(setting.name) has no range")
      #expect(range.contains(number), "the default of --\(setting.name)")
      return (setting.name, range)
    }
  }

  @Test func `every numeric setting has a range and every range an option`() throws {
    let names = Set(try Self.numbers().map(\.name))
    #expect(names.count > 40)
    #expect(Set(NumberSetting.all.map(\.name)) == names.union(Self.ofOtherCommands))
  }

  @Test func `every number of the service reaches its configuration, and no other place`() throws {
    let defaults = try Self.parse([]).configuration()
    let places = NumberSetting.all.compactMap { row in row.place.map { (row, $0) } }
    #expect(places.count > 35)
    // Half of them at a time, by each bit of their index and by its opposite: of any two, each is once given without the other.
    for bit in 0..<(Int.bitWidth - places.count.leadingZeroBitCount) {
      for isGiven in [{ $0 >> bit & 1 == 1 }, { $0 >> bit & 1 == 0 }] as [(Int) -> Bool] {
        let arguments = places.enumerated().compactMap { index, place in
          isGiven(index) ? "--\(place.0.name)=\(Self.other(place.0))" : nil
        }
        let configuration = try Self.parse(arguments).configuration()
        for (index, (row, place)) in places.enumerated() {
          let expected = isGiven(index) ? Self.other(row) : place.value(defaults)
          #expect(place.value(configuration) == expected, "--\(row.name)")
        }
      }
    }
  }

  /// A number that is not the row's default.
  private static func other(_ row: NumberSetting) -> Int {
    row.range.upperBound == row.fallback ? row.range.lowerBound : row.range.upperBound
  }

  @Test func `a number outside of its range is refused by name, the ends are taken`() throws {
    for (name, range) in try Self.numbers() {
      let below = range.lowerBound.subtractingReportingOverflow(1).partialValue
      for number in [Int.min, Int.min + 1, below, -1, 0, 1, range.upperBound + 1, Int.max] {
        let setting = Setting(name, number)
        if range.contains(number) {
          try Setting.validate([setting])
        } else {
          let error = #expect(throws: ValidationError.self) { try Setting.validate([setting]) }
          #expect(error?.message.hasPrefix("--\(name): \(number) is ") == true)
        }
      }
      for number in [range.lowerBound, range.upperBound] {
        try Setting.validate([Setting(name, number)])
      }
    }
    // All of the list is looked at, whatever its group, and what is no number is refused before.
    for argument in [
      "--log-buffer-bytes=\(Int.max)", "--event-loops=-1", "--worker-threads=\(UInt64.max)",
      "--wal-limit-bytes=-9223372036854775809", "--request-burst=1e3", "--header-fields=",
    ] {
      let error = #expect(throws: (any Error).self) { try Self.parse([argument]) }
      guard let error else { continue }
      let name = argument.prefix { $0 != "=" }
      #expect(ServeSettings.message(for: error).contains(name), "\(argument)")
      #expect(ServeSettings.exitCode(for: error).rawValue == 64)
    }
  }

  @Test func `other commands refuse such numbers, too`() throws {
    let program = Program()
    let cases: [(arguments: [String], says: String)] = [
      (["prune", "--older-than", "700001"], "--older-than: 700001 is more than 700000"),
      (["prune", "--keep-posts=-1"], "--keep-posts: -1 is less than 0"),
      (["prune", "--kept-rankings", "\(Int.max)"], "--kept-rankings: \(Int.max) is more than"),
      (["seed", "--generate", "\(Int.max)"], "--generate: \(Int.max) is more than"),
      (["seed", "--batch-records", "\(Int.max)"], "--batch-records: \(Int.max) is more than"),
      (
        ["health", "--timeout-milliseconds", "\(Int.max)"],
        "--timeout-milliseconds: \(Int.max) is more than"
      ),
      (
        ["check", "--busy-timeout-milliseconds", "\(Int.max)"],
        "--busy-timeout-milliseconds: \(Int.max) is more than"
      ),
    ]
    for (arguments, says) in cases {
      let outcome = try program.run(arguments)
      #expect(outcome.status == 64 && outcome.errors.contains(says), "\(arguments)")
    }
    let byVariable = try program.run(
      "serve", environment: ["LOOKAHEAD_EVENT_LOOPS": "\(Int.max)"])
    #expect(byVariable.status == 64 && byVariable.errors.contains("LOOKAHEAD_EVENT_LOOPS: "))
  }

  @Test func `the settings show every range`() throws {
    var shown: [String: ClosedRange<Int>] = [:]
    for line in DocumentationTests.settings.split(separator: "\n") {
      guard let match = line.wholeMatch(of: /\| ([0-9]+) \| ([0-9]+) \| (.*) \|/),
        let least = Int(match.output.1), let most = Int(match.output.2), least <= most
      else { continue }
      for option in match.output.3.matches(of: /`--([a-z-]+)`/) {
        shown[String(option.output.1)] = least...most
      }
    }
    let place = "docs/settings.md, the table of ranges of numbers"
    for row in NumberSetting.all where shown[row.name] != row.range {
      Issue.record("\(place), does not have --\(row.name) with \(row.range)")
    }
    let unknown = Set(shown.keys).subtracting(NumberSetting.all.map(\.name)).sorted()
    #expect(unknown == [], "\(place), has them, and no option does")
  }

  @Test func `each row of a number is in a list that the command names`() throws {
    let names = Set(NumberSetting.all.map(\.name))
    let files = FileManager.default.enumerator(
      at: Repository.url("Sources"), includingPropertiesForKeys: nil)!
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      guard text.contains("[SettableNumber<Self>] = [") else { continue }
      for row in text.matches(of: /\.init\(\s*"([a-z][a-z-]+)",\s*[^,"]*\.\.\./) {
        count += 1
        if names.contains(String(row.output.1)) { continue }
        Issue.record(
          """
          \(file.lastPathComponent) has a row \(row.output.1) in a list that is not among those of \
          Sources/command/lookahead/NumberSetting.swift: there is no such option
          """)
      }
    }
    #expect(count > 100)
  }

  /// Starts a service in this process, asks it all sorts of things, and ends it.
  private static func serve(_ arguments: [String], answersHealth: Bool) throws {
    let folder = TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.file("backups"), withIntermediateDirectories: false)
    var configuration = try parse(
      ["--database", folder.file("feed.sqlite"), "--backup-folder", folder.file("backups")]
        + ["--write-token", "0123456789abcdef"] + arguments
    ).configuration()
    configuration.application.server.port = 0
    // A drain would take as long.
    configuration.application.drainGraceMilliseconds = min(
      configuration.application.drainGraceMilliseconds, 10)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let service = try FeedService(configuration, logger: logger)
    let port = try service.start()
    let authorized = ["Authorization": "Bearer 0123456789abcdef"]
    let record = #"{"id":"a","type":"text","feeds":[{"name":"f","rank":1}]}"#
    let requests: [(method: String, target: String, body: String?, fields: [String: String])] = [
      ("POST", "/v1/import", record, [:]),
      ("PUT", "/v1/items/b", #"{"type":"text","feeds":[{"name":"f","rank":2}]}"#, [:]),
      ("POST", "/v1/items/b/counters", #"{"likes":1}"#, ["Idempotency-Key": "k"]),
      ("POST", "/v1/items/b/counters", #"{"likes":1}"#, ["Idempotency-Key": "k"]),
      ("GET", "/rp/?feed=f", nil, [:]), ("GET", "/metrics", nil, [:]),
      ("GET", "/healthz", nil, [:]),
    ]
    var last: TestAnswer?
    for (method, target, body, fields) in requests {
      // With the least of some settings nothing is answered but refusals, or nothing at all.
      last = try? TestClient(port: port, timeoutSeconds: answersHealth ? 20 : 1).request(
        method, target, authorized.merging(fields) { $1 }, body: body)
    }
    if answersHealth { #expect(last?.status == 200) }
    service.drain()
    try service.wait()
  }

  @Test func `a service with every number at its most serves`() throws {
    try Self.serve(
      try Self.numbers().filter { $0.name != "port" }.map { "--\($0.name)=\($0.range.upperBound)" },
      answersHealth: true)
  }

  @Test func `a service with every number at its least starts and ends`() throws {
    try Self.serve(
      try Self.numbers().filter { $0.name != "port" }.map { "--\($0.name)=\($0.range.lowerBound)" },
      answersHealth: false)
  }
}
