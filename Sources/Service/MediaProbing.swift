import MediaProbe

/// How a service looks into the files of its media root.
public struct MediaProbing: Sendable, Hashable {
  /// How much of one processor that takes, in percent; 0 where it does not look.
  public var cpuPercent = 25
  /// The time from one round through all files to the next.
  public var intervalSeconds = 60
  /// A file that changed so shortly ago may be one that is being written: it waits.
  public var settlingMilliseconds = 5_000
  /// What decoding a file may cost.
  public var decoding = ProbeSettings()
  /// The programs that decode.
  public var tools = MediaTools.installed()

  /// The settings as they usually are.
  public init() {}
}
