import Foundation

/// What a session reports to its server (`POST /v1/reports`): counts of items, loaders, waits and bytes, no ids.
public struct ReportingSettings: Hashable, Sendable {
  /// Whether it reports at all.
  public var isOn = true
  /// How often at the most, while items are looked at; once more at the end.
  public var intervalMilliseconds = 30_000
  /// The arm of an experiment; empty outside of one.
  public var arm = ""
  /// The app's name and version.
  public var client = "PrefetchClient"
  /// Whether the session shares what it was, without ids and addresses, where the server asks for that
  /// (`--record-share`) and it is drawn.
  public var sharesRecording = true
  /// Where parts wait that could not be sent, for the next session; nil keeps them as long as this one.
  public var file: URL?
  /// How long to wait for the answer.
  public var timeoutMilliseconds = 15_000

  /// The usual settings.
  public init() {}

  /// Nothing is reported.
  public static let off = {
    var settings = ReportingSettings()
    settings.isOn = false
    return settings
  }()
}
