import ArgumentParser
import Feed
import FeedFormats
import PostJSON
import Seeding

/// What inputs are written in, and where their posts go.
struct ShapeOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "What the inputs are written in: \(FeedFormat.allCases.map(\.rawValue).joined(separator: ", ")); "
        + "without it, what their content tells.", valueName: "format"))
  var format: FeedFormat?

  @Option(
    help: ArgumentHelp(
      "Which column of a CSV is which field, such as headline=title; once for each.",
      valueName: "column=field"))
  var map: [ColumnMapping] = []

  @Option(help: "The feed of posts whose records name none.")
  var feed: String?

  mutating func validate() throws {
    guard let feed else { return }
    do throws(RecordError) {
      let record = SeedRecord.feed(name: feed, title: nil)
      _ = try RecordDecoder().decode(record.json)
    } catch {
      throw ValidationError("--feed: the name \(error.problem)")
    }
  }

  /// Has a seeder read inputs so.
  func apply(to seeder: inout Seeder) {
    seeder.format = format
    seeder.columns = map
    seeder.feed = feed
  }
}

extension FeedFormat: ExpressibleByArgument {}

extension ColumnMapping: ExpressibleByArgument {
  /// The mapping that an argument is; nil where it is none.
  public init?(argument: String) { try? self.init(argument) }
}
