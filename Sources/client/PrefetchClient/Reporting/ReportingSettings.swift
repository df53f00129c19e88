import Foundation

/// Settings of the reports of a session to its server (`POST /v1/reports`): counts of items, loaders, waits
/// and bytes, and facts about the items seen.
public struct ReportingSettings: Hashable, Sendable {
  /// Whether the session reports at all.
  public var isOn = true
  /// The minimum time between two parts while the person looks at items; a last one is sent at the end.
  public var intervalMilliseconds = 30_000
  /// The arm of an experiment; empty outside of one.
  public var arm = ""
  /// The app's name and version.
  public var client = "PrefetchClient"
  /// Whether the session shares its recording, without ids and addresses, if the server asks for recordings
  /// (`--record-share`) and the session is drawn.
  public var sharesRecording = true
  /// The file for unsent parts, for the next session; nil keeps them only as long as this session.
  public var file: URL?
  /// The maximum wait for the answer.
  public var timeoutMilliseconds = 15_000

  /// Creates the default settings.
  public init() {}

  /// Settings that turn reports off.
  public static let off = {
    var settings = ReportingSettings()
    settings.isOn = false
    return settings
  }()
}
