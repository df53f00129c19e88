import Foundation
import TestSupport
import Testing

@testable import FeedServer

/// The lab's last report, as the page shows it.
@Suite struct LabReportTests {
  private let folder = TemporaryFolder()
  private let target = LabReportFile.path

  private func link(_ client: TestClient) throws -> String? {
    try client.get("/", ["Accept": "application/json"]).value("links.labReport")
  }

  @Test func `a server that was told none, or has no page, has none`() throws {
    let path = try folder.write("<p>A report", to: "lab.html")
    let servers = [
      try RunningServer(),
      try RunningServer {
        $0.labReport = path
        $0.hasPage = false
      },
    ]
    for server in servers {
      let client = try server.client()
      #expect(try client.get(target).status == 404)
      #expect(try link(client) == nil)
    }
  }

  @Test func `the report is what is in the file now`() throws {
    let path = folder.file("lab.html")
    let server = try RunningServer { $0.labReport = path }
    let client = try server.client()
    #expect(try link(client) == target)
    #expect(try client.get(target).value("detail") == "There is no lab report yet.")
    _ = try folder.write("<p>A report", to: "lab.html")
    let first = try client.get(target)
    #expect(first.status == 200 && first.text == "<p>A report")
    #expect(try client.get(target, ["If-None-Match": first.fields["etag"]!]).status == 304)
    _ = try folder.write("<p>Another report", to: "lab.html")
    let second = try client.get(target, ["If-None-Match": first.fields["etag"]!])
    #expect(second.status == 200 && second.text == "<p>Another report")
    _ = try folder.write("", to: "lab.html")
    #expect(try client.get(target).body.isEmpty)
  }

  @Test func `nothing of it runs, is loaded, or leads anywhere`() throws {
    let path = try folder.write("<script>alert(1)</script>", to: "lab.html")
    let server = try RunningServer { $0.labReport = path }
    let fields = try server.client().get(target).fields
    let policy = fields["content-security-policy"]!.split(separator: "; ")
    #expect(policy.first == "default-src 'none'" && policy.last == "sandbox")
    #expect(!policy.contains { $0.hasPrefix("script-src") })
    #expect(fields["content-type"] == "text/html; charset=utf-8")
    #expect(fields["x-content-type-options"] == "nosniff")
  }

  @Test func `what is no file, or too large, is none`() throws {
    let large = try folder.write("", to: "large")
    #expect(truncate(large, off_t(LabReportFile.maximumBytes + 1)) == 0)
    let pipe = folder.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    for path in [folder.path, large, pipe] {
      let server = try RunningServer { $0.labReport = path }
      #expect(try server.client().get(target).status == 404, "\(path)")
    }
  }
}
