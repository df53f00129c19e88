import FeedServer
import Foundation
import ObjectStorage
import SQLiteStore
import Service
import Sockets
import System

/// Finds settings that are safe individually but not together.
struct StartCheck {
  private(set) var configuration: FeedServiceConfiguration
  var tokenFile: String?
  var signingKeyFile: String?
  var reportKeyFile: String?
  var webhookFile: String?
  var logFile: String?
  /// Whether the token is in the arguments, which every user of the machine can read (ps(1)).
  var isTokenAnArgument = false
  var isRoot = false
  /// The maximum number of descriptors of the process.
  var descriptorLimit = Int.max

  /// The configured number of connections, if it was lowered to fit the descriptors.
  var unfittedConnections: Int?

  /// The minimum length of a token for a server that other machines can reach: 16 characters of base64 are 96
  /// bits, which cannot be guessed.
  private static let leastTokenCharacters = 16
  /// The bytes of a request's header section that are left for other fields, and for the name of the token's.
  private static let otherFieldBytes = 1_024
  /// The minimum number of open media files, however few descriptors there are.
  private static let leastMediaFiles = 16
  /// The minimum to which the number of connections may be lowered.
  private static let leastConnections = 64
  /// The assumed size of a page: some 16 KB for 30 posts, more for the largest ones.
  private static let pageBytes = 1 << 16

  /// The descriptors for everything but connections and media files: the database with a connection for each
  /// thread that reads, logs, and for each loop its own descriptors and the connections that it refuses.
  private var otherDescriptors: Int {
    let server = configuration.application.server
    return 64 + 3 * configuration.application.workerThreads
      + server.eventLoops * (8 + server.maximumRefusedConnections)
  }

  /// The maximum number of open media files that leaves a descriptor for every allowed connection.
  var openMediaFiles: Int {
    let connections = configuration.application.server.maximumConnections
    return max(Self.leastMediaFiles, descriptorLimit - connections - otherDescriptors)
  }

  /// The descriptors for everything but connections.
  private var descriptorsBesideConnections: Int {
    // Media files get what connections leave: having fewer files than connections is a limit, and not an
    // error.
    let sending = mediaFolder == nil ? 0 : Self.leastMediaFiles
    return sending + otherDescriptors
  }

  /// Lowers a default number of connections to what the descriptors allow.
  mutating func fitConnections() {
    let connections = configuration.application.server.maximumConnections
    let most = descriptorLimit - descriptorsBesideConnections
    // A server with fewer connections is of no use: then a warning names the missing descriptors.
    guard most < connections, most >= Self.leastConnections else { return }
    unfittedConnections = connections
    configuration.application.server.maximumConnections = most
  }

  var findings: [StartFinding] {
    standbyFindings + mediaFindings + signingFindings + reportFindings + writeFindings
      + clientFindings + limitFindings
  }

  private var standbyFindings: [StartFinding] {
    guard let standby = configuration.opening.connections.standby,
      let path = configuration.location.path
    else { return [] }
    return [
      .refusal(
        "--standby-database \(standby.name) needs a PostgreSQL database, not a SQLite file "
          + "(--database \(path))"
      )
    ]
  }

  private var isReachable: Bool {
    let host = configuration.application.server.host
    if host == "localhost" { return false }
    guard let address = IPAddress(host) else { return true }
    return !["127.0.0.0/8", "::1"].contains { IPAddressBlock($0)?.contains(address) ?? false }
  }

  /// The media root, if it is a folder of this machine.
  private var mediaFolder: String? {
    configuration.application.mediaRoot.flatMap { ObjectAddress.isOne($0) ? nil : $0 }
  }

  /// The conflict between the media root and settings that exclude or require a bucket.
  private var bucketProblem: String? {
    let application = configuration.application
    let delivery = application.mediaDelivery
    guard let root = application.mediaRoot, mediaFolder == nil else {
      return delivery == .through
        ? nil : "--media-delivery \(delivery.rawValue) needs a bucket as --media-root (s3://…)"
    }
    if configuration.location.path == nil, application.mediaSpoolFolder == nil,
      !application.writeTokens.isEmpty
    {
      return
        "--media-root \(root) accepts uploads, but --media-spool-folder is not set: the folder "
        + "for uploads until they are complete"
    }
    guard delivery != .through else { return nil }
    if delivery == .direct, !application.mediaSigningKeys.isEmpty {
      return
        "--media-delivery direct hands out URLs of the store, which --media-signing-key-file "
        + "cannot sign"
    }
    let seconds = application.mediaURLSeconds + application.mediaURLStepSeconds
    if seconds > RequestSigner.longestSeconds {
      return
        "URLs of the store are valid for at most \(RequestSigner.longestSeconds) s, but "
        + "--media-url-seconds and --media-url-step-seconds add up to \(seconds) s"
    }
    return nil
  }

  /// The server sends every file in the media folder to every client.
  private var mediaFindings: [StartFinding] {
    if let problem = bucketProblem { return [.refusal(problem)] }
    guard let root = mediaFolder.map(Self.resolved) else { return [] }
    let files = [
      ("the database", configuration.location.path),
      ("the backup folder", configuration.backups.flatMap(\.localFolder)),
      ("the token file", tokenFile), ("the key file", signingKeyFile),
      ("the key file", reportKeyFile), ("the webhook file", webhookFile),
      ("the log", logFile),
      ("the folder of sessions", configuration.application.reports.recordFolder),
    ]
    return files.compactMap { name, path in
      guard let path = path.map(Self.resolved),
        path == root || path.hasPrefix(root == "/" ? root : root + "/")
      else {
        return nil
      }
      return .refusal(
        "\(name) (\(path)) is in --media-root (\(root)), where every client can read it")
    }
  }

  /// Clients must not get a page whose URLs are no longer valid.
  private var signingFindings: [StartFinding] {
    guard
      !configuration.application.mediaSigningKeys.isEmpty
        || configuration.application.mediaDelivery == .direct
    else { return [] }
    var findings: [StartFinding] = []
    let (least, kept) = (
      configuration.application.mediaURLSeconds,
      configuration.application.cacheMaxAgeSeconds
        + configuration.application.cacheStaleWhileRevalidateSeconds
    )
    if kept > least {
      findings.append(
        .refusal(
          "caches may keep a page for \(kept) s (--cache-max-age-seconds and "
            + "--cache-stale-while-revalidate-seconds), longer than its signed URLs are valid "
            + "(--media-url-seconds \(least))"))
    }
    if let signingKeyFile { findings += Self.readers(of: signingKeyFile) }
    return findings
  }

  private var reportFindings: [StartFinding] {
    [reportKeyFile, webhookFile].compactMap { $0 }.flatMap(Self.readers) + recordFindings
  }

  /// If sessions are asked for recordings, there has to be a folder for them.
  private var recordFindings: [StartFinding] {
    let reports = configuration.application.reports
    guard reports.recordPermille > 0 else { return [] }
    guard let folder = reports.recordFolder else {
      return [.refusal("--record-share needs --record-folder")]
    }
    guard (try? FileStatus(path: folder))?.isFolder == true else {
      return [.refusal("--record-folder: \(folder) is not a folder")]
    }
    return []
  }

  /// The finding about a secret's file that every user can read.
  private static func readers(of file: String) -> [StartFinding] {
    guard let status = try? FileStatus(path: file), status.permissions & 0o007 != 0 else {
      return []
    }
    return [.warning("\(file) is readable by every user of this machine: chmod o= \(file)")]
  }

  /// The findings about the tokens; a single token is called without its name.
  var writeFindings: [StartFinding] {
    let tokens = configuration.application.writeTokens
    guard !tokens.isEmpty else { return [] }
    var found = tokens.flatMap { token in
      self.findings(
        of: token, called: tokens.count == 1 ? "the write token" : "the token \"\(token.name)\"")
    }
    if isTokenAnArgument {
      found.append(
        .warning("--write-token is readable by every user of this machine: use --write-token-file"))
    }
    if let tokenFile { found += Self.readers(of: tokenFile) }
    return found
  }

  private func findings(of token: WriteToken, called name: String) -> [StartFinding] {
    var findings: [StartFinding] = []
    let length = token.secret.utf8.count
    if length < Self.leastTokenCharacters {
      let text =
        "\(name) has \(length) characters; expected at least \(Self.leastTokenCharacters): "
        + "`openssl rand -hex 32` makes one"
      findings.append(isReachable ? .refusal(text) : .warning(text))
    }
    let headerBytes = configuration.application.server.limits.headerBlockBytes
    if length > headerBytes - Self.otherFieldBytes {
      findings.append(
        .refusal(
          "\(name) has \(length) characters, too many for a header of \(headerBytes) bytes "
            + "(--header-block-bytes) with \(Self.otherFieldBytes) bytes for the other fields"))
    }
    return findings
  }

  private var clientFindings: [StartFinding] {
    var findings: [StartFinding] = []
    let ends = ["0.0.0.0", "255.255.255.255", "::1:0:0:0", "ffff::"].compactMap { IPAddress($0) }
    let trustsAll = [ends[..<2], ends[2...]].contains { ends in
      configuration.application.trustedProxies.contains { block in ends.allSatisfy(block.contains) }
    }
    if trustsAll {
      let text =
        "--trusted-proxies trusts every address, so a client can claim any address"
      findings.append(
        configuration.application.requestsPerSecond > 0
          ? .refusal("\(text), and --requests-per-second limits no client: list the proxies only")
          : .warning("\(text): the addresses in the log are not reliable"))
    }
    if isRoot, isReachable {
      findings.append(
        .warning(
          "the server runs as root and is reachable from other machines: run it as another user"))
    }
    return findings
  }

  private var limitFindings: [StartFinding] {
    var findings: [StartFinding] = []
    let encoded = configuration.application.encodedMemoryBytes
    if encoded > 0, encoded < Self.pageBytes {
      findings.append(
        .refusal(
          "--encoded-memory-bytes \(encoded) is too small for a page: use at least "
            + "\(Self.pageBytes), or 0 to keep none"))
    }
    let record = configuration.application.seeder.recordLimitBytes
    if configuration.application.importBytes < record {
      findings.append(
        .refusal(
          "--import-bytes \(configuration.application.importBytes) is less than the limit of "
            + "one record (--record-limit-bytes \(record))"))
    }
    let connections = configuration.application.server.maximumConnections
    if let unfittedConnections {
      findings.append(
        .note(
          "--maximum-connections is reduced from \(unfittedConnections) to \(connections): "
            + "the process may have \(descriptorLimit) open files (ulimit -n)"))
    }
    let sending = mediaFolder == nil ? 0 : Self.leastMediaFiles
    let needed = connections + descriptorsBesideConnections
    if needed > descriptorLimit {
      let files = sending > 0 ? ", \(sending) for media files being sent" : ""
      findings.append(
        .warning(
          "--maximum-connections \(connections) needs \(needed) open files (\(connections) for "
            + "connections\(files), \(otherDescriptors) for the rest), but the process may have "
            + "\(descriptorLimit) (ulimit -n)"))
    }
    return findings
  }
}

// MARK: Paths

extension StartCheck {
  /// The path with links resolved (realpath(3)), as far as it exists.
  static func resolved(_ path: String) -> String {
    if let real = FileSystem.resolvingLinks(path) { return real }
    let parent = DatabaseFile.folder(of: path)
    guard parent != path else { return path }
    let folder = resolved(parent)
    let name = String(
      decoding: path.utf8.split(separator: UInt8(ascii: "/")).last ?? [], as: UTF8.self)
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }
}

extension ServeSettings {
  /// The findings about these settings before a start.
  ///
  /// - Throws: `ValidationError`.
  func startFindings() throws -> [StartFinding] { try startCheck().findings }

  /// The check of these settings in this process.
  ///
  /// - Throws: `ValidationError`.
  func startCheck() throws -> StartCheck {
    let arguments = CommandLine.arguments
    var check = StartCheck(
      configuration: try configuration(), tokenFile: writes.writeTokenFile,
      signingKeyFile: media.mediaSigningKeyFile, reportKeyFile: reports.reportKeyFile,
      webhookFile: hooks.webhooks, logFile: log.logFile,
      isTokenAnArgument: Setting("write-token", secret: nil)
        .origin(arguments: arguments, environment: [:]) == .option,
      isRoot: User.isRoot, descriptorLimit: DescriptorLimit.raise())
    let connections = Setting("maximum-connections", secret: nil)
    let origin = connections.origin(
      arguments: arguments, environment: ProcessInfo.processInfo.environment)
    if origin == .default { check.fitConnections() }
    return check
  }
}

/// A finding about the settings before a start.
struct StartFinding: Equatable {
  enum Severity: String {
    /// The server does not start.
    case refusal
    /// The server starts, and logs this as a warning.
    case warning
    /// The server starts, and a default was adapted to the machine.
    case note
  }

  /// Whether the server does not start.
  var isRefusal: Bool { severity == .refusal }

  let severity: Severity
  let text: String

  static func refusal(_ text: String) -> StartFinding {
    StartFinding(severity: .refusal, text: text)
  }

  static func note(_ text: String) -> StartFinding { StartFinding(severity: .note, text: text) }

  static func warning(_ text: String) -> StartFinding {
    StartFinding(severity: .warning, text: text)
  }
}
