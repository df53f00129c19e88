import FeedFormats
import Foundation
import JSON
import PostJSON
import TestSupport
import Testing

/// Whatever a sample says is in what comes of it, or docs/seeding.md names it as not kept.
struct NothingLostTests {
  /// A value of a sample, and the member, element or attribute that it is of.
  private struct Said: Hashable {
    let name: String
    let value: String
  }

  /// What comes out otherwise than it went in, or not at all, by the names that formats have for it.
  private static let others: [FeedFormat: (converted: Set<String>, lost: Set<String>)] = [
    // The feed says of itself beside its title, language and authors.
    .jsonFeed: (
      ["date_published", "content_html", "duration_in_seconds", "language"],
      ["version", "feed_url"]
    ),
    // Markup, domains of categories, the channel's image, further renditions, what modules say beside.
    .rss: (
      [
        "pubDate", "content:encoded", "description", "isPermaLink", "author", "duration", "medium",
        "isDefault", "itunes:duration", "link", "url", "p",
      ],
      [
        "version", "encoding", "domain", "rel", "href", "src", "type", "width", "height",
        "fileSize",
      ]
    ),
    .atom: (
      ["published", "updated", "title", "summary", "content", "rel", "type", "href", "url"],
      ["average", "width", "height", "version", "encoding"]
    ),
    // What accounts say beside names and avatars; markup; further sizes.
    .mastodon: (
      ["created_at", "content", "type", "duration"],
      [
        "length", "size", "aspect", "frame_rate", "bitrate", "width", "url", "visibility", "uri",
        "id",
      ]
    ),
    // Removed posts, comments, other previews; what says of which kind something is.
    .reddit: (
      ["created_utc", "permalink", "url", "duration"],
      [
        "kind", "after", "status", "e", "media_id", "gif", "thumbnail", "m", "removed_by_category",
        "author", "selftext", "title", "name",
      ]
    ),
  ]

  private static func said(_ json: JSONValue, _ name: String = "") -> [Said] {
    switch json.kind {
    case .object: json.members.flatMap { said($0.value, $0.name) }
    case .array: json.elements.flatMap { said($0, name) }
    case .text: json.text.map { [Said(name: name, value: $0)] } ?? []
    case .number: [Said(name: name, value: String(decoding: json.compactJSON, as: UTF8.self))]
    // What is false, null or empty says nothing.
    case .boolean, .null: []
    }
  }

  /// The texts of elements and the values of attributes, as they stand there.
  private static func said(xml: String) -> [Said] {
    let elements = xml.matches(of: /<([\w:]+)[^<>]*>([^<>]+)</).map {
      Said(name: String($0.output.1), value: String($0.output.2))
    }
    let attributes = xml.matches(of: /\s([\w:]+)="([^"]*)"/).compactMap { match -> Said? in
      let name = String(match.output.1)
      return name.hasPrefix("xmlns") ? nil : Said(name: name, value: String(match.output.2))
    }
    return elements + attributes
  }

  /// Without what HTML and XML write otherwise.
  private static func plain(_ value: String) -> String {
    var text = value.replacing("&amp;", with: "&").replacing("&lt;", with: "<")
    text = text.replacing("&amp;", with: "&").replacing("&quot;", with: "\"")
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  @Test(arguments: SampleTests.names.filter { $0 != "table.csv" })
  func `what a sample says comes out, or is of a kind that the documentation names`(_ name: String)
    throws
  {
    let format = try #require(Sample.formats.first { $0.name == name }?.format)
    let bytes = try Sample.bytes(name)
    let records = Reading(bytes, format, settings: Sample.settings).records
    let text = records.joined(separator: "\n").replacing("\\\"", with: "\"")
    let said =
      format == .rss || format == .atom
      ? Self.said(xml: String(decoding: bytes, as: UTF8.self))
      : Self.said(try JSONDocument(bytes).root)
    #expect(said.count > 20)
    let others = try #require(Self.others[format])
    var unused = others.lost
    for item in said {
      let value = Self.plain(item.value)
      if value.isEmpty || value == "0" || text.contains(value) { continue }
      // Relative references are made absolute.
      if value.hasPrefix("/") || !value.contains(":"), text.contains("/" + value.drop { $0 == "/" })
      {
        continue
      }
      if others.converted.contains(item.name) { continue }
      if others.lost.contains(item.name) {
        unused.remove(item.name)
        continue
      }
      Issue.record("\(item.name): \(value)")
    }
    // A name that nothing of the sample needs any longer goes from the list.
    #expect(unused.isEmpty, "\(unused.sorted())")
  }

  @Test(arguments: SampleTests.names)
  func `what comes out of a sample is read again as the same`(_ name: String) throws {
    let format = try #require(Sample.formats.first { $0.name == name }?.format)
    let first = Reading(try Sample.bytes(name), format, settings: Sample.settings).records
    let lines = first.map { String($0.drop { $0 != "{" }) }
    let again = Reading(lines.joined(separator: "\n"), .records).records
    #expect(again.map { String($0.drop { $0 != "{" }) } == lines)
  }
}
