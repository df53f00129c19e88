import ArgumentParser
import Foundation
import Service

/// How a server looks for better policies at night.
struct TuneOptions: ParsableArguments {
  @Option(
    help: """
      Action for better policies that the lab finds at night: off, do not look for any; suggest, \
      store a suggestion to be begun by hand; auto, begin the experiment.
      """)
  var tune = Environment.option("tune") ?? TuningSettings.Mode.off

  /// That of the lab: the server's, with the database, which the lab opens from another folder.
  func environment(database: String) -> [String] {
    var variables = ProcessInfo.processInfo.environment
    let isFile = (try? StoreLocation(database))?.path != nil
    variables[Environment.variable("database")] =
      isFile ? URL(fileURLWithPath: database).path : database
    return variables.map { "\($0.key)=\($0.value)" }
  }
}

extension TuningSettings.Mode: ExpressibleByArgument {}
