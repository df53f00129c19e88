import ArgumentParser
import Feed
import FeedFormats
import Foundation
import PostJSON
import Seeding

/// The format of inputs, and the feeds of their posts.
struct ShapeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Format of the inputs: \(FeedFormat.allCases.map(\.rawValue).joined(separator: ", ")); "
        + "default: detected from the content.", valueName: "format"))
  var format: FeedFormat?

  @Option(
    help: ArgumentHelp(
      "Field for a column of a CSV, such as headline=title, or for a value of JSON objects by "
        + "its path, such as text=content.body or media.url=images[].src; may be repeated.",
      valueName: "column=field"))
  var map: [ColumnMapping] = []

  @Option(help: "Feed for posts whose records name no feed.")
  var feed: String?

  @Option(
    help: ArgumentHelp(
      "Time zone for times without one, such as Europe/Berlin or +02:00; default: UTC.",
      valueName: "zone"))
  var timeZone: LocalTimeZone = .utc

  mutating func validate() throws {
    guard let feed else { return }
    do throws(RecordError) {
      let record = SeedRecord.feed(name: feed, title: nil)
      _ = try RecordDecoder().decode(record.json)
    } catch {
      throw ValidationError("--feed: the name \(error.problem)")
    }
  }

  /// Applies the options to a seeder.
  func apply(to seeder: inout Seeder) {
    seeder.format = format
    seeder.columns = map
    seeder.feed = feed
    seeder.timeZone = timeZone
  }
}

extension FeedFormat: ExpressibleByArgument {}

extension LocalTimeZone: ExpressibleByArgument {
  /// Creates the zone from a name in the IANA database, or from an offset from UTC.
  public init?(argument: String) {
    let isOffset = argument.wholeMatch(of: /[+-]\d\d:?\d\d/) != nil
    guard let zone = TimeZone(identifier: isOffset ? "GMT" + argument : argument) else {
      return nil
    }
    self.init { local in
      // The offset of a local time is that of an instant nearby; when clocks change, the offset before the
      // change applies.
      func offset(_ seconds: Int) -> Int {
        zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
      }
      return offset(local - offset(local - offset(local)))
    }
  }

  /// The default in the help.
  public var defaultValueDescription: String { "UTC" }
}

extension ColumnMapping: ExpressibleByArgument {
  /// Parses a mapping; `nil` if it is invalid.
  public init?(argument: String) { try? self.init(argument) }
}
