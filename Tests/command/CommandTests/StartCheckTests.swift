import Service
import Foundation
import Sockets
import TestSupport
import Testing

@testable import lookahead

@Suite struct StartCheckTests {
  private static let token = "0123456789abcdef"

  private func check(
    database: String = "/data/feed.sqlite", _ change: (inout FeedServiceConfiguration) -> Void
  ) -> StartCheck {
    var configuration = FeedServiceConfiguration(databasePath: database)
    change(&configuration)
    return StartCheck(configuration: configuration)
  }

  @Test func `the defaults and a careful set-up are without findings`() {
    #expect(check { _ in }.findings == [])
    let careful = check {
      $0.application.server.host = "0.0.0.0"
      $0.application.writeTokens = .only(Self.token)
      $0.application.mediaRoot = "/media"
      $0.backups = BackupSettings(folder: "/backups")
      $0.application.trustedProxies = [
        IPAddressBlock("10.0.0.0/8")!, IPAddressBlock("2001:db8::/32")!,
      ]
      $0.application.requestsPerSecond = 10
    }
    #expect(careful.findings == [])
  }

  @Test func `settings that are unsafe together are named`() {
    let everybody = [IPAddressBlock("0.0.0.0/0")!]
    let cases: [(StartCheck, StartFinding.Severity, says: String)] = [
      (check { $0.application.mediaRoot = "/data" }, .refusal, "the database (/data/feed.sqlite)"),
      (check { $0.application.mediaRoot = "/" }, .refusal, "the database"),
      (
        check {
          $0.application.mediaSigningKeys = [[1]]
          $0.application.mediaURLSeconds = 69
        }, .refusal, "longer than its signed URLs are valid (--media-url-seconds 69)"
      ),
      (
        check {
          $0.application.mediaRoot = "/media"
          $0.backups = BackupSettings(folder: "/media/backups")
        }, .refusal, "the backup folder (/media/backups)"
      ),
      (
        check {
          $0.application.server.host = "::"
          $0.application.writeTokens = .only("short")
        }, .refusal, "5 characters"
      ),
      (check { $0.application.writeTokens = .only("short") }, .warning, "5 characters"),
      (
        check {
          $0.application.writeTokens = .only(String(repeating: "a", count: 16_384 - 1_024 + 1))
        },
        .refusal,
        "15361 characters"
      ),
      (
        check {
          $0.application.writeTokens = .only(Self.token)
          $0.application.server.limits.headerBlockBytes = 1_024
        }, .refusal, "--header-block-bytes"
      ),
      (
        check {
          $0.application.trustedProxies = everybody
          $0.application.requestsPerSecond = 1
        }, .refusal, "limits no client"
      ),
      (check { $0.application.trustedProxies = everybody }, .warning, "trusts every address"),
      (
        check { $0.application.trustedProxies = [IPAddressBlock("::/0")!] }, .warning,
        "trusts every address"
      ),
      (
        check { $0.application.encodedMemoryBytes = 1_000 }, .refusal, "--encoded-memory-bytes 1000"
      ),
      (check { $0.application.importBytes = 1_000 }, .refusal, "--record-limit-bytes 1048576"),
    ]
    for (check, severity, says) in cases {
      let findings = check.findings
      #expect(findings.map(\.severity) == [severity], "\(findings)")
      #expect(findings.first?.text.contains(says) == true, "\(findings)")
    }
    #expect(check { $0.application.encodedMemoryBytes = 0 }.findings == [])
  }

  @Test func `what the process is says more`() {
    var check = check { $0.application.server.host = "192.0.2.1" }
    check.isRoot = true
    check.descriptorLimit = 1_024
    check.isTokenAnArgument = true
    check.logFile = "/data/log"
    #expect(check.findings.map(\.severity) == [.warning, .warning])
    var writing = self.check { $0.application.writeTokens = .only(Self.token) }
    writing.isTokenAnArgument = true
    #expect(writing.findings.first?.text.contains("use --write-token-file") == true)
    for host in ["127.0.0.1", "127.9.9.9", "::1", "localhost"] {
      var local = self.check { $0.application.server.host = host }
      local.isRoot = true
      #expect(local.findings == [], "\(host)")
    }
  }

  @Test func `the descriptors that are needed are counted`() {
    var check = check { $0.application.server.maximumConnections = 1_000 }
    let cases: [(limit: Int, media: String?, says: String?, files: Int)] = [
      (.max, "/media", nil, .max - 1_000 - 142), (1_142, nil, nil, 16),
      (1_141, nil, "1000 needs 1142 open files", 16), (2_142, "/media", nil, 1_000),
      (1_200, "/media", nil, 58), (1_158, "/media", nil, 16),
      (1_157, "/media", "1000 needs 1158 open files", 16),
      (0, "/media", "may have 0", 16),
    ]
    for (limit, media, says, files) in cases {
      check.descriptorLimit = limit
      var configuration = check.configuration
      configuration.application.mediaRoot = media
      var changed = StartCheck(configuration: configuration)
      changed.descriptorLimit = limit
      #expect(changed.openMediaFiles == files, "\(limit)")
      #expect(changed.findings.count == (says == nil ? 0 : 1), "\(changed.findings)")
      if let says { #expect(changed.findings.first?.text.contains(says) == true) }
    }
  }

  @Test func `as many connections are allowed by default as there are descriptors for`() {
    let cases: [(limit: Int, connections: Int, severities: [StartFinding.Severity])] = [
      (.max, 10_000, []), (10_142, 10_000, []), (10_141, 9_999, [.note]), (1_024, 882, [.note]),
      (206, 64, [.note]), (205, 10_000, [.warning]), (0, 10_000, [.warning]),
    ]
    for (limit, connections, severities) in cases {
      var check = check { _ in }
      check.descriptorLimit = limit
      check.fitConnections()
      #expect(
        check.configuration.application.server.maximumConnections == connections, "\(limit)")
      #expect(check.findings.map(\.severity) == severities, "\(limit) \(check.findings)")
    }
  }

  @Test func `a link does not hide where a file is`() throws {
    let folder = TemporaryFolder()
    let real = folder.file("real")
    try FileManager.default.createDirectory(atPath: real, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: real)
    // The database is yet to be made.
    let check = check(database: folder.file("link/new/feed.sqlite")) {
      $0.application.mediaRoot = real
    }
    #expect(check.findings.map(\.severity) == [.refusal])
    let beside = self.check(database: folder.file("real-data.sqlite")) {
      $0.application.mediaRoot = real
    }
    #expect(beside.findings == [])
  }

  @Test func `a token that everybody may read is warned of`() throws {
    let folder = TemporaryFolder()
    var check = check { $0.application.writeTokens = .only(Self.token) }
    check.tokenFile = try folder.write(Self.token, to: "token")
    chmod(folder.file("token"), 0o644)
    #expect(check.findings.first?.text.contains("chmod o=") == true)
    chmod(folder.file("token"), 0o640)
    #expect(check.findings == [])
  }
}
