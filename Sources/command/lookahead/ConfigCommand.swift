import ArgumentParser
import Foundation
import SQLiteStore

struct ConfigCommand: ParsableCommand, CustomReflectable {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show every setting of `serve`, its value, and where it came from.",
    discussion: """
      Takes the options and the environment of `serve`. Secrets are shown as set or not set. Exit \
      status: 0 if `serve` would start with these settings; 1 if it would refuse them, with the \
      reason. Files and ports are not tested.
      """)

  enum Format: String, CaseIterable, ExpressibleByArgument {
    case text, json
  }

  @Option(help: "Output format: text or json.")
  var format = Format.text

  /// Its options are direct options of the command, as in `serve`.
  private var settings = ServeSettings()

  init() {}

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: OptionLabel.self)
    _format = try container.decode(Option<Format>.self, forKey: OptionLabel("format"))
    settings = try ServeSettings(from: decoder)
  }

  var customMirror: Mirror {
    Mirror(self, children: [("_format", _format)] + Mirror(reflecting: settings).children)
  }

  func validate() throws { try settings.validate() }

  func run() throws {
    let findings = try settings.startFindings()
    switch format {
    case .text: showText(findings)
    case .json: try showJSON(findings)
    }
    if findings.contains(where: { $0.severity == .refusal }) { throw ExitCode.failure }
  }

  private func origin(_ setting: Setting) -> Setting.Origin {
    setting.origin(
      arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)
  }

  private func showText(_ findings: [StartFinding]) {
    let list = settings.list
    let width = list.map(\.name.count).max() ?? 0
    for setting in list {
      let name = setting.name.padding(toLength: width, withPad: " ", startingAt: 0)
      print("\(name)  \(setting.text)  [\(origin(setting).rawValue)]")
    }
    print(SQLiteLibrary.summary)
    for finding in findings { print("\(finding.severity.rawValue): \(finding.text)") }
  }

  private func showJSON(_ findings: [StartFinding]) throws {
    let document: [String: Any] = [
      "settings": settings.list.map { setting -> [String: Any] in
        var members: [String: Any] = [
          "name": setting.name, "variable": setting.variable, "value": setting.json,
          "origin": origin(setting).rawValue,
        ]
        if let range = setting.row?.range {
          members["minimum"] = range.lowerBound
          members["maximum"] = range.upperBound
        }
        return members
      },
      "sqlite": [
        "version": SQLiteLibrary.version, "hasLogResetRace": SQLiteLibrary.hasLogResetRace,
        "text": SQLiteLibrary.summary,
      ],
      "findings": findings.map { ["severity": $0.severity.rawValue, "text": $0.text] },
    ]
    let data = try JSONSerialization.data(
      withJSONObject: document, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
    // JSON has several lines, and escapes of its own.
    let text = String(decoding: data, as: UTF8.self).escapedForTerminal(keepsLines: true)
    try printBytes(Array((text + "\n").utf8))
  }
}
