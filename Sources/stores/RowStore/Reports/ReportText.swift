import Feed
import PostJSON
import Reports

/// What statements on the tables of reports say in every database.
package enum ReportText {
  /// The columns of `report_promise` beside its key.
  package static let promise = "hour, kept, late, recent_kept, recent_late, state"
  /// How many items are told apart.
  package static let countItems = "SELECT count(*) FROM report_watch WHERE kind = 'item'"
  /// How many promises there are.
  package static let countPromises = "SELECT count(*) FROM report_promise WHERE url <> ''"
  /// What was counted of classes of clips.
  package static let classes =
    "SELECT kind, name, hour, figures FROM report_watch WHERE kind <> 'item'"
  /// Takes from posts what nothing is known of any more.
  package static let withdrawCurves = """
    UPDATE post SET survival = NULL WHERE survival IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM report_watch WHERE kind = 'item' AND name = post.id)
    """

  /// The column `survival`.
  package static func survival(_ points: [WatchPoint]) -> String? {
    points.isEmpty ? nil : points.json
  }

  /// What the column `survival` holds.
  package static func points(_ survival: String?) -> [WatchPoint] {
    survival.map { [WatchPoint](json: $0) } ?? []
  }

  /// Which promises are shown.
  ///
  /// - Parameter least: how many views those have at least.
  package static func isTold(_ least: String) -> String {
    "url <> '' AND late > 0 AND kept + late >= \(least)"
  }
  /// The order of promises in which the greatest share of late ones is first.
  package static let worstFirst =
    "late * 1000000 / (kept + late) DESC, late DESC, url, version, network"

  /// Deletes items with the fewest views.
  ///
  /// - Parameter count: how many.
  package static func dropLightestItems(_ count: String) -> String {
    """
    DELETE FROM report_watch WHERE kind = 'item' AND name IN
      (SELECT name FROM report_watch WHERE kind = 'item' ORDER BY views, hour, name LIMIT \(count))
    """
  }

  /// Deletes promises that were put to the test least often.
  ///
  /// - Parameter count: how many.
  package static func dropLightestPromises(_ count: String) -> String {
    """
    DELETE FROM report_promise WHERE (url, version, network) IN
      (SELECT url, version, network FROM report_promise WHERE url <> '' AND state = 0
      ORDER BY kept + late, hour, url, version, network LIMIT \(count))
    """
  }

  /// How many go: where nine tenths of the room are taken, down to eight.
  package static func excess(_ count: Int, _ limit: Int) -> Int {
    count > limit - limit / 10 ? count - (limit - limit / 5) : 0
  }
}

extension PromiseRecord {
  /// The columns of `ReportText.promise`.
  package var columns: [Int] {
    [hour, all.kept, all.late, recent.kept, recent.late, state.rawValue]
  }

  /// What these columns hold; a state that is unknown is one that holds.
  package init(_ columns: [Int]) {
    self.init(hour: columns[0])
    all = PromiseCounts(kept: columns[1], late: columns[2])
    recent = PromiseCounts(kept: columns[3], late: columns[4])
    state = State(rawValue: columns[5]) ?? .holds
  }
}

extension PackedReport {
  /// What was packed of an item, or nothing where the bytes are damaged.
  ///
  /// - Throws: `PackedError.unknownForm`.
  package static func told(_ bytes: [UInt8], hour: Int) throws(PackedError) -> WatchRecord {
    try readable(bytes, hour: hour)
      ?? WatchRecord(hour: hour, kind: .video, durationMilliseconds: 0, counts: WatchCounts())
  }
}
