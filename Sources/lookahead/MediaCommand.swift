import ArgumentParser

struct MediaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "media", abstract: "Look after media files.",
    subcommands: [MediaAddCommand.self, MediaRenditionsCommand.self, MediaFaststartCommand.self])
}
