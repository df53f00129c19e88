import ArgumentParser
import Foundation
import JSON
import Lab
import PostJSON
import Prefetch

/// Replays recorded sessions under other strategies.
struct LabReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replay recorded sessions under other strategies, with bounds.",
    discussion: """
      The viewer views the recorded items for the recorded times. While something was received, \
      the link is as fast as recorded. While it was idle, its speed is unknown, so each strategy \
      runs twice: over the slowest and over the fastest link that the session saw. The true result \
      lies between the two, to the extent that the recorded strategy used the link (see \
      docs/lab.md).
      """)

  /// The formats of the output.
  enum Format: String, CaseIterable, ExpressibleByArgument {
    case table, json
  }

  @Argument(
    help: ArgumentHelp(
      "Files or folders of sessions, as browse --record or serve --record-folder write them.",
      valueName: "session"))
  var sessions: [String]

  @OptionGroup var strategies: LabStrategies

  @Flag(
    help: "Simulate HTTP without TLS, as in sessions of browse: connections open sooner."
  )
  var plainHttp = false

  @Option(help: "Output format: table or json.")
  var format = Format.table

  mutating func validate() throws {
    guard !sessions.isEmpty else { throw ValidationError("name a session") }
    _ = try strategies.contestants(isHinted: true)
  }

  func run() throws {
    let replays = try sessions.flatMap { try self.replays($0) }
    let rows = try strategies.contestants(isHinted: true).map { contestant in
      var (slow, fast) = (Replay.Figures(), Replay.Figures())
      for replay in replays {
        slow.add(replay.run(contestant.policy.strategy, isFast: false, over: transport))
        fast.add(replay.run(contestant.policy.strategy, isFast: true, over: transport))
      }
      return (name: contestant.name, slow: slow, fast: fast)
    }
    switch format {
    case .table: printText(table(replays, rows))
    case .json: try printBytes(json(replays, rows) + [UInt8(ascii: "\n")])
    }
  }

  private var transport: LinkSettings {
    guard plainHttp else { return LinkSettings() }
    var settings = LinkSettings()
    settings.connections = 32
    settings.setupRoundTrips = 1
    settings.thinkMilliseconds = 1
    settings.requestBytes = 250
    return settings
  }

  /// A session, or those of a folder, by name. In a folder, skips sessions in which nothing can be replayed:
  /// some users leave before anything has arrived.
  private func replays(_ path: String) throws -> [Replay] {
    guard let files = try filesOfFolder(path) else { return [try replay(path)] }
    var (replays, passedOver) = ([Replay](), 0)
    for file in files {
      do {
        replays.append(try replay(file))
      } catch let error as LabInputError where error.isOfSession {
        passedOver += 1
      }
    }
    if passedOver > 0 {
      ProgressMeter().report("\(path): \(passedOver) of \(files.count) sessions cannot be replayed")
    }
    guard !replays.isEmpty else {
      throw LabInputError(file: path, words: "none of its sessions can be replayed")
    }
    return replays
  }

  private func replay(_ path: String) throws -> Replay {
    do {
      return try Replay(try SessionLog(LabOptions.content(path)))
    } catch let error as SessionLogError {
      throw LabInputError(file: path, words: "\(error)")
    } catch let error as ReplayError {
      throw LabInputError(file: path, words: "\(error)", isOfSession: true)
    }
  }

  /// The files of a folder; `nil` if the path is not a folder. A file that a server is writing has a name
  /// with a leading dot.
  private func filesOfFolder(_ path: String) throws -> [String]? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw LabInputError(file: path, words: "there is no such file")
    }
    guard isFolder.boolValue else { return nil }
    let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
      .filter { !$0.hasPrefix(".") }
    guard !names.isEmpty else {
      throw LabInputError(file: path, words: "the folder has no sessions")
    }
    return names.map { path + "/" + $0 }
  }

  private typealias Row = (name: String, slow: Replay.Figures, fast: Replay.Figures)

  private func recorded(_ replays: [Replay]) -> Replay.Figures {
    replays.reduce(into: Replay.Figures()) { $0.add($1.recorded) }
  }

  private func percent(_ replays: [Replay], _ knowledge: InferredLink.Knowledge) -> Double {
    replays.reduce(0) { $0 + $1.link.percent(knowledge) } / Double(max(1, replays.count))
  }

  private func table(_ replays: [Replay], _ rows: [Row]) -> String {
    func number(_ value: Double) -> String { String(format: "%.1f", value) }
    func range(_ row: Row, _ value: (Replay.Figures) -> Double) -> String {
      let (first, second) = (value(row.fast), value(row.slow))
      return "\(number(min(first, second))) to \(number(max(first, second)))"
    }
    let recorded = recorded(replays)
    let names = Set(replays.map(\.strategy.text)).sorted().joined(separator: ", ")
    var lines = [["", "loaders/1000", "wait ms/item", "KB/item"]]
    lines.append([
      "recorded: \(names)", number(recorded.loadersPerThousand), number(recorded.waitPerItem),
      number(recorded.kilobytesPerItem),
    ])
    for row in rows {
      lines.append([
        row.name, range(row) { $0.loadersPerThousand }, range(row) { $0.waitPerItem },
        range(row) { $0.kilobytesPerItem },
      ])
    }
    let widths = (0..<4).map { column in lines.map { $0[column].count }.max() ?? 0 }
    let unknown = percent(replays, .unknown)
    let table = lines.map { line in
      line.indices.map { column in
        let pad = String(repeating: " ", count: widths[column] - line[column].count)
        return column == 0 ? line[column] + pad : pad + line[column]
      }.joined(separator: "  ") + "\n"
    }.joined()
    return table + "\n"
      + "\(replays.count) sessions with \(recorded.items) items. The link's speed is known for "
      + "\(number(percent(replays, .known))) % of the time, has a lower bound for "
      + "\(number(percent(replays, .atLeast))) %, and is unknown for \(number(unknown)) %.\n"
      + (unknown > 50
        ? "The recorded strategy left the link idle for more than half of the time: for a "
          + "strategy that loads more, only the bounds are valid.\n" : "")
  }

  private func json(_ replays: [Replay], _ rows: [Row]) -> [UInt8] {
    var writer = JSONWriter(capacity: 1_024)
    writer.object { writer in
      writer.member("sessions", replays.count)
      writer.key("recorded")
      writer.figures(recorded(replays))
      writer.object("linkPercent") { writer in
        for (name, knowledge) in [
          ("known", InferredLink.Knowledge.known), ("atLeast", .atLeast), ("unknown", .unknown),
        ] {
          writer.key(text: name)
          writer.number((percent(replays, knowledge) * 100).rounded() / 100)
        }
      }
      writer.array("strategies") { writer in
        for row in rows {
          writer.object { writer in
            writer.member("strategy", row.name)
            writer.key("slow")
            writer.figures(row.slow)
            writer.key("fast")
            writer.figures(row.fast)
          }
        }
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func figures(_ figures: Replay.Figures) {
    object { writer in
      writer.member("items", figures.items)
      for (name, value) in [
        ("loadersPer1000", figures.loadersPerThousand), ("waitMsPerItem", figures.waitPerItem),
        ("kilobytesPerItem", figures.kilobytesPerItem),
      ] {
        writer.key(text: name)
        writer.number((value * 100).rounded() / 100)
      }
    }
  }
}
