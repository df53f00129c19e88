import ArgumentParser
import Foundation
import Service

/// Settings for the search for better policies at night.
struct TuneOptions: ParsableArguments {
  @Option(
    help: """
      Action for better policies that the lab finds at night: off, do not look for any; suggest, \
      store a suggestion to be begun by hand; auto, begin the experiment.
      """)
  var tune = Environment.option("tune") ?? TuningSettings.Mode.off

  /// The environment of the lab: the server's, with an absolute path of the database, as the lab runs in
  /// another folder.
  func environment(database: String) -> [String] {
    var variables = ProcessInfo.processInfo.environment
    let isFile = (try? StoreLocation(database))?.path != nil
    variables[Environment.variable("database")] =
      isFile ? URL(fileURLWithPath: database).path : database
    return variables.map { "\($0.key)=\($0.value)" }
  }
}

extension TuningSettings.Mode: ExpressibleByArgument {}
