import Feed
import FeedFormats
import Foundation
import PostJSON
import TestSupport

/// What comes of an input.
struct Reading: Equatable {
  /// The records as canonical JSON with their lines, or what is wrong: `3: {…}`, `3: !is not …`.
  var records: [String] = []
  var omissions = Omissions()

  /// Reads an input in pieces that end there, and decodes what comes out.
  init(
    _ input: [UInt8], _ format: FeedFormat, settings: FormatSettings = .test, ends: [Int]? = nil
  ) {
    var reader = format.reader(settings)
    var start = 0
    for end in ends ?? [input.count] {
      reader.feed(Array(input[start..<end])) { take($0) }
      start = end
    }
    reader.finish { take($0) }
    omissions = reader.omissions
  }

  init(_ text: String, _ format: FeedFormat, settings: FormatSettings = .test) {
    self.init(Array(text.utf8), format, settings: settings)
  }

  private mutating func take(_ record: RawRecord) {
    switch record.content {
    case .failure(let error): records.append("\(record.line): !\(error)")
    case .success(let bytes):
      do throws(RecordError) {
        let decoded = try RecordDecoder().decode(bytes)
        records.append("\(record.line): \(String(decoding: decoded.json, as: UTF8.self))")
      } catch {
        records.append("\(record.line): !\(error)")
      }
    }
  }
}

extension FormatSettings {
  /// Limits that no sample reaches, and a feed.
  static let test = FormatSettings(recordLimitBytes: 1 << 20, feed: "f")
}

/// The samples of `Fixtures/formats`, by the public specifications.
enum Sample {
  static let folder = Repository.url("Fixtures/formats")

  static let formats: [(name: String, format: FeedFormat)] = [
    ("journal.json", .jsonFeed), ("news.rss", .rss), ("clips.atom", .atom),
    ("timeline.json", .mastodon), ("listing.json", .reddit), ("table.csv", .csv),
  ]

  static let columns = try! [
    "number=id", "headline=title", "body=text", "when=publishedAt", "picture=media.url",
    "w=media.width",
    "h=media.height", "likes=counters.likes", "labels=tags", "internal=extra.internal",
  ].map { try ColumnMapping($0) }

  static func bytes(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: folder.appendingPathComponent(name)))
  }

  static var settings: FormatSettings {
    var settings = FormatSettings.test
    settings.columns = columns
    return settings
  }
}
