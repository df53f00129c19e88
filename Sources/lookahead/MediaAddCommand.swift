import ArgumentParser
import Service

struct MediaAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Find out what media files are, and keep it for the posts that show them.",
    discussion: """
      Of a folder all files below it that are images, videos or sounds. Posts that name a file by its URL, \
      /media/ and its path below the media root, show what is known of it from then on, in servers that run, \
      too; their records stay as they are. A file that has the size and the time of change that it had is \
      not read again, and a content that is known not decoded again: the same run twice changes nothing, and \
      one that was killed goes on. What is known of files that are gone or broken is forgotten. What is \
      wrong with a file is reported as FILE: what is wrong, and the exit status is then 1.
      """)

  @OptionGroup var files: MediaFilesOptions

  @OptionGroup var options: DatabaseOptions

  @Flag(help: "Decode every file again, whatever is known: for what a newer ffmpeg can tell.")
  var again = false

  func run() throws {
    var configuration = FeedServiceConfiguration(try options.location())
    Setting.apply(Setting.list(of: self), to: &configuration)
    try files.run(configuration) { $0.isAnew = again }
  }
}
