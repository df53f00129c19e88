import ArgumentParser
import Foundation
import JSON
import Prefetch
import PrefetchClient
import ShapedLink
import System
import Viewing

struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse",
    abstract:
      "Scroll a server's feed with the client library, without a screen, and count loaders.",
    discussion: """
      Views one item after the other at a constant pace, whether it is loaded or not, and prints \
      one line: items, loaders on images and on videos, waiting, bytes, wasted bytes, requests. \
      With --network, all traffic goes through a local link that is shaped to the bandwidth, \
      latency and loss of that network. --speed speeds up both the link and the viewer by the same \
      factor; as long as the machine keeps up, the results stay the same.
      """)

  @Argument(
    help: "URL of the server, http://127.0.0.1:8080, or of a page, …/rp/?feed=featured&limit=30.")
  var url: String

  @Option(help: "Name of the feed, if the URL does not contain it.")
  var feed: String?

  @Option(help: "Number of items to view.")
  var items = 1_000

  @Option(help: "Time to view each item, such as 1s or 500ms.")
  var pace = "1s"

  @Option(
    help: ArgumentHelp(
      """
      Prefetch strategy: a name, with the parameters that differ from its defaults; or policy, to \
      use the server's policy for the feed and the network, which the output then names. Default: \
      policy with --report, otherwise expected-wait.
      """, valueName: "name:k=v,…"))
  var strategy: String?

  @Option(
    help: ArgumentHelp(
      "Network profile of the server, such as 3g, or file with a recorded network.",
      valueName: "profile|trace")
  )
  var network: String?

  @Option(help: "Factor that speeds up the link and the viewer, 1 to 100.")
  var speed = 1

  @Option(help: "Folder in which to keep ranges of files for the next run; default: in memory.")
  var store: String?

  @Option(
    help: """
      File in which to record the session, as lines of JSON: the engine's input and output, and \
      how long each item was viewed. It is input for plan and for the lab.
      """)
  var record: String?

  @Flag(help: "Report the session to the server, as apps do.")
  var report = false

  @Flag(help: "Print the statistics as a line of JSON.")
  var json = false

  mutating func validate() throws {
    _ = try BrowsePlan(self)
  }

  func run() throws {
    let plan = try BrowsePlan(self)
    let result = Monitor<Result<BrowseReport, BrowseError>?>(nil)
    Task {
      let outcome: Result<BrowseReport, BrowseError>
      do throws(BrowseError) {
        outcome = .success(try await plan.run())
      } catch {
        outcome = .failure(error)
      }
      result.withLock { $0 = outcome }
      result.notify()
    }
    do {
      let report = try result.wait { $0 }.get()
      print(json ? report.json : report.text)
    } catch {
      printError("\(url): \(error)".escapedForTerminal())
      throw ExitCode.failure
    }
  }
}
