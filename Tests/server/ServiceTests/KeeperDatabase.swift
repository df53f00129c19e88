import Catalog
import Experiments
import Feed
import PostgresTestSupport
import Prefetch
import Reports
import RowStore
import Service
import TestSupport

/// A database of either kind, with a feed on which sessions on 3G report.
final class KeeperDatabase {
  enum Kind: CaseIterable {
    case sqlite, postgres

    /// Those that there are on this machine.
    static let present = allCases.filter { $0 == .sqlite || PostgresCluster.isPresent }
  }

  let folder = TemporaryFolder()
  let location: StoreLocation
  let store: any DatabaseStore
  private var number: UInt64 = 0

  init(_ kind: Kind) throws {
    location = try StoreLocation(
      kind == .sqlite
        ? folder.file("feed.sqlite") : PostgresCluster.shared!.freshSchema().address)
    store = try StoreOpening().open(location).store
    try store.load([.ranked("p", 1)], batch: 10)
  }

  deinit { try? store.close() }

  /// Sessions that reported in an hour, since 1970.
  func report(
    hour: Int, arm: String = "", sessions: Int = 1, _ figures: (inout ReportFigures) -> Void
  ) throws {
    let parts = (0..<sessions).map { _ in
      number += 1
      var part = ReportPart(session: "s", part: 0)
      figures(&part.figures)
      let key = ReportCellKey(
        hour: hour, feed: "featured", policy: "p", arm: arm, network: "3g")
      return CountedPart(fingerprint: number, key: key, cell: ReportCell(part))
    }
    _ = try store.add(
      parts, at: hour, after: 0, forgettingBefore: 0, cellsPerHour: 1_000, of: WatchLimits())
  }

  func experiments() throws -> [PolicyExperiment] {
    try store.experiments(.newest(100)).reversed()
  }

  /// The policy in force on 3G.
  func policy() throws -> String {
    _ = try store.refresh()
    let book = try store.snapshot().policyBook
    return book.networks.first { $0.name == "3g" }
      .map { book.policy(feed: "featured", network: $0).name } ?? ""
  }
}
