import ArgumentParser

struct MediaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "media", abstract: "Keep what is known of media files.",
    subcommands: [MediaAddCommand.self])
}
