import ArgumentParser
import Foundation
import Observability
import System
import Version

/// The program: parses arguments, calls a library, sets the exit status.
@main
struct Lookahead: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lookahead",
    abstract: "A feed server that tells clients what to load next.",
    discussion: """
      Every option is also an environment variable: --database is LOOKAHEAD_DATABASE, \
      --idle-timeout-milliseconds is LOOKAHEAD_IDLE_TIMEOUT_MILLISECONDS. An option takes \
      precedence over its variable. Options that belong to a single run, such as --overwrite, have \
      no variable.

      Exit status: 0 success, 1 failure, 64 invalid arguments.
      """,
    version: ProgramVersion.text,
    subcommands: [
      ServeCommand.self, SeedCommand.self, MigrateCommand.self, ExportCommand.self,
      CheckCommand.self, CopyCommand.self, BackupCommand.self, RestoreCommand.self,
      VacuumCommand.self,
      PruneCommand.self, ProbeCommand.self, MediaCommand.self, PlanCommand.self,
      BrowseCommand.self, LabCommand.self, LiveCommand.self, ExperimentCommand.self,
      TuneCommand.self, ChangesCommand.self,
      ConfigCommand.self, HealthCommand.self,
    ])

  /// Runs the command of the arguments. Errors are shown as ArgumentParser shows them, but with escaped
  /// control characters.
  static func main() {
    StandardStream.openClosed()
    Signals.ignoreFileSizeLimit()
    Signals.ignoreBrokenPipe()
    do {
      var command = try parseAsRoot()
      try command.run()
      exitIfOutputFailed()
    } catch {
      exitIfOutputFailed()
      let status = exitCode(for: error)
      let text = fullMessage(for: error).escapedForTerminal(keepsLines: true)
      if !text.isEmpty {
        if status == .success {
          try? printBytes(Array((text + "\n").utf8))
          exitIfOutputFailed()
        } else {
          writeError(text + "\n")
        }
      }
      Foundation.exit(status.rawValue)
    }
  }
}
