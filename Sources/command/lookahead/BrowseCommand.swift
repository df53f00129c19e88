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
      "Scroll a server's feed without a screen, with the client library, and count loaders.",
    discussion: """
      Looks at one item after the other, at an even pace, whether it is there or not, and writes a line: items, \
      loaders on images and on videos, waiting, bytes, bytes that were of no use, requests. With --network \
      everything goes through a link of this machine that is shaped to that network's bandwidth, latency and \
      loss. With --speed both the link and the person are faster by that factor, which changes nothing but \
      how long it takes, as long as the machine keeps up.
      """)

  @Argument(
    help: "The server, http://127.0.0.1:8080, or a page of it, …/rp/?feed=featured&limit=30.")
  var url: String

  @Option(help: "The feed's name, where the URL does not say it.")
  var feed: String?

  @Option(help: "Number of items to look at.")
  var items = 1_000

  @Option(help: "Time for which each item is looked at: 1s, 500ms.")
  var pace = "1s"

  @Option(
    help: ArgumentHelp(
      """
      What is loaded ahead: a name, and numbers that are not its usual ones; or policy: by the policy that the server \
      has for the feed and the network, which is also reported. Without it: policy with --report, else expected-wait.
      """, valueName: "name:k=v,…"))
  var strategy: String?

  @Option(
    help: ArgumentHelp(
      "A profile of the server's, 3g, or a file of a recorded network.", valueName: "profile|trace")
  )
  var network: String?

  @Option(help: "Factor by which the link and the person are faster, 1 to 100.")
  var speed = 1

  @Option(help: "Keeps ranges of files in this folder, for the next time; otherwise in memory.")
  var store: String?

  @Option(
    help: """
      Writes down the session to this file, as lines of JSON: what the engine was told and said, what was seen \
      for how long. It is input for plan and for the lab.
      """)
  var record: String?

  @Flag(help: "Reports to the server what was met, as apps do.")
  var report = false

  @Flag(help: "Writes the statistics as a line of JSON.")
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
