import System

/// What probing a file may cost, and which URLs may be asked.
public struct ProbeSettings: Sendable, Hashable {
  /// How long decoding a file's first frame may take, and fetching all that is read of a URL: each.
  public var timeMilliseconds = 10_000
  /// A larger file of this machine is not looked into.
  public var fileBytes = 16 << 30
  /// How long reading all of a file of this machine may take.
  public var readMilliseconds = 120_000
  /// The address space of each program that is run: decoding needs some 300 MB of it whatever the file,
  /// most of which is never used.
  public var memoryBytes = 512 << 20
  /// How much of one URL is read.
  public var remoteBytes = 32 << 20
  /// Where pieces of URLs are kept while they are looked at, in files without a name.
  public var scratchFolder = "/tmp"
  /// The hosts that URLs may name: without any, none.
  public var allowedHosts: [HostPattern] = []
  /// Whether hosts may be this machine or in its networks.
  public var allowsPrivateAddresses = false
  /// By which all that is under way is given up; nil for never.
  public var cancellation: Cancellation?
  /// Whether what is read here of a file is held against what ffprobe says, packet by packet.
  public var checksWithFFprobe = false

  /// The settings as they usually are.
  public init() {}
}
