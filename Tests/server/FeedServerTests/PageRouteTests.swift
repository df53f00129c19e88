import Feed
import Foundation
import JSON
import Page
import TestSupport
import Testing

@testable import FeedServer

/// The page at `/`, its files, and `/lookahead.js`.
@Suite struct PageRouteTests {
  private static let browser = [
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
  ]

  @Test func `a browser gets the page, which may ask its own server alone`() throws {
    let service = try RunningServer()
    let answer = try service.client().get("/", Self.browser)
    #expect(answer.status == 200)
    #expect(answer.fields["content-type"] == "text/html; charset=utf-8")
    #expect(answer.fields["vary"] == "Accept-Encoding, Accept")
    #expect(answer.fields["cache-control"] == "no-cache")
    #expect(answer.body == PageFile.page.bytes)
    let policy = try #require(answer.fields["content-security-policy"])
    #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; "))
    #expect(!policy.contains("unsafe") && !policy.contains("http"))
  }

  @Test(arguments: [nil, "*/*", "application/json", "text/html;q=0.1, application/json"])
  func `whoever does not ask for HTML gets links that can be followed`(_ accept: String?) throws {
    let service = try RunningServer()
    let client = try service.client()
    let answer = try client.get("/", accept.map { ["Accept": $0] } ?? [:])
    #expect(answer.status == 200)
    #expect(answer.fields["content-type"] == "application/json")
    #expect(answer.fields["link"] == "</openapi.json>; rel=\"service-desc\"")
    let links = try #require(answer.value("links", as: [String: String].self))
    #expect(links.count == 7)
    for target in links.values { #expect(try client.get(target).status == 200, "\(target)") }
  }

  @Test func `each file is served with a validator, and compressed for who takes that`() throws {
    let service = try RunningServer()
    let client = try service.client()
    let files = PageFile.parts.map { ("/page/\($0.key)", $0.value) } + [("/lookahead.js", .module)]
    for (path, file) in files {
      let whole = try client.get(path)
      #expect(whole.status == 200 && whole.body == file.bytes, "\(path)")
      let type = try #require(whole.fields["content-type"])
      let types = [
        "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml", "html": "text/html",
      ]
      let ending = String(path.split(separator: ".").last ?? "")
      #expect(type.hasPrefix(types[ending] ?? "?"), "\(path)")
      #expect(whole.fields["x-content-type-options"] == "nosniff")
      // A report may look as it likes, and do nothing.
      let policy = whole.fields["content-security-policy"]
      #expect((policy?.hasSuffix("; sandbox") ?? false) == (ending == "html"), "\(path)")
      let tag = try #require(whole.fields["etag"])
      #expect(try client.get(path, ["If-None-Match": tag]).status == 304)
      guard file.bytes.count > 2048 else { continue }
      let compressed = try client.get(path, ["Accept-Encoding": "br"])
      #expect(compressed.fields["content-encoding"] == "br")
      #expect(compressed.body.count < file.bytes.count / 2, "\(path)")
    }
    #expect(try client.get("/lookahead.js").fields["access-control-allow-origin"] == "*")
    #expect(try client.get("/page/nothing.js").status == 404)
    #expect(try client.request("HEAD", "/", Self.browser).status == 200)
  }

  @Test func `without the page, browsers get the links, too, and apps the module`() throws {
    let service = try RunningServer(configure: { $0.hasPage = false })
    let client = try service.client()
    #expect(try client.get("/", Self.browser).fields["content-type"] == "application/json")
    #expect(try client.get("/page/page.js").status == 404)
    #expect(try client.get("/lookahead.js").status == 200)
  }

  @Test func `what the page and its modules name is there, and nothing in it is inline`() throws {
    let page = String(decoding: PageFile.page.bytes, as: UTF8.self)
    let named = page.matches(of: /(?:href|src)="(?:page\/)?([\w.-]+\.(?:js|css|svg))"/)
      .map { String($0.output.1) }
    #expect(named.count >= 4)
    for name in named { #expect(PageFile.parts[name] != nil || name == "lookahead.js", "\(name)") }
    #expect(page.firstMatch(of: /<script(?![^>]*src=)|<style|\sstyle=|\son\w+=/) == nil)
    #expect(page.firstMatch(of: /https?:/) == nil)
    var imported: Set<String> = []
    for (name, file) in PageFile.parts where name.hasSuffix(".js") {
      let text = String(decoding: file.bytes, as: UTF8.self)
      for match in text.matches(of: /(?:from|import) '(\.[^']+)'/) {
        let path = String(match.output.1)
        imported.insert(String(path.drop { ".".contains($0) }.dropFirst()))
        let isThere =
          path == "../lookahead.js" || PageFile.parts[String(path.dropFirst(2))] != nil
        #expect(isThere, "\(name) imports \(path)")
      }
      // Text of a feed never becomes HTML.
      #expect(!text.contains("innerHTML") && !text.contains("insertAdjacentHTML"), "\(name)")
    }
    // Nothing is carried that the page does not use.
    let scripts = PageFile.parts.keys.filter { $0.hasSuffix(".js") && $0 != "page.js" }
    #expect(imported == Set(scripts).union(["lookahead.js"]))
  }

  @Test func `every file beside the page is carried by the program`() throws {
    let folder = Repository.url("Sources/server/Page")
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.appendingPathComponent("page").path)
    #expect(Set(names) == Set(PageFile.parts.keys).union(["index.html"]))
    for name in names {
      let bytes = try Data(contentsOf: folder.appendingPathComponent("page/\(name)"))
      #expect(Array(bytes) == (PageFile.parts[name] ?? .page).bytes, "\(name)")
    }
  }
}
