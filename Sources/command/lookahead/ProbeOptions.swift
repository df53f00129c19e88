import ArgumentParser
import Foundation
import MediaProbe

/// The limits of decoding a media file's first frame.
struct DecodingOptions: ParsableArguments {
  @Option("probe-timeout-milliseconds") var probeTimeoutMilliseconds: Int

  @Option("probe-file-bytes") var probeFileBytes: Int

  @Option("probe-read-timeout-milliseconds") var probeReadTimeoutMilliseconds: Int

  @Option("probe-memory-bytes") var probeMemoryBytes: Int

  var settings: ProbeSettings {
    var settings = ProbeSettings()
    settings.timeMilliseconds = probeTimeoutMilliseconds
    settings.fileBytes = probeFileBytes
    settings.readMilliseconds = probeReadTimeoutMilliseconds
    settings.memoryBytes = probeMemoryBytes
    // From TMPDIR: a read-only root has no /tmp.
    settings.scratchFolder = NSTemporaryDirectory()
    return settings
  }
}

/// The limits of probing a media file, and the allowed hosts of URLs.
struct ProbeOptions: ParsableArguments {
  @OptionGroup var decoding: DecodingOptions

  @Option("probe-url-bytes") var probeUrlBytes: Int

  @Option(
    name: .customLong("allow-host"),
    help: ArgumentHelp(
      "Host that URLs may name: a name, *.example.org, or *; may be repeated. Default: none.",
      valueName: "host"))
  var allowHost: [String] = []

  @Flag(
    "allow-private-addresses", "Allow hosts with private addresses: this machine, and its networks."
  )
  var allowPrivateAddresses: Bool

  /// The hosts of the options, or else those of the variable, which are separated by commas.
  var hostPatterns: [HostPattern] {
    get throws {
      let variable = Environment.text("allow-host", default: "").split(separator: ",")
      return try (allowHost.isEmpty ? variable.map(String.init) : allowHost).map { text in
        guard let pattern = HostPattern(text) else {
          throw ValidationError(
            "--allow-host: \"\(text)\" is not a host such as media.example.org or *.example.org")
        }
        return pattern
      }
    }
  }

  func settings() throws -> ProbeSettings {
    var settings = decoding.settings
    settings.remoteBytes = probeUrlBytes
    settings.allowedHosts = try hostPatterns
    settings.allowsPrivateAddresses = allowPrivateAddresses
    return settings
  }
}
