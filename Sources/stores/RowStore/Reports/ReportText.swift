import Feed
import PostJSON
import Reports

/// SQL on the tables of reports that is the same in every database.
package enum ReportText {
  /// The columns of `report_promise` except its key.
  package static let promise = "hour, kept, late, recent_kept, recent_late, state"
  /// Selects the number of items that are counted separately.
  package static let countItems = "SELECT count(*) FROM report_watch WHERE kind = 'item'"
  /// Selects the number of promises.
  package static let countPromises = "SELECT count(*) FROM report_promise WHERE url <> ''"
  /// Selects what was counted of classes of clips.
  package static let classes =
    "SELECT kind, name, hour, figures FROM report_watch WHERE kind <> 'item'"
  /// Deletes the curves of posts about which nothing is known any more.
  package static let withdrawCurves = """
    UPDATE post SET survival = NULL WHERE survival IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM report_watch WHERE kind = 'item' AND name = post.id)
    """

  /// Returns the content of the column `survival`.
  package static func survival(_ points: [WatchPoint]) -> String? {
    points.isEmpty ? nil : points.json
  }

  /// Returns the points in the column `survival`.
  package static func points(_ survival: String?) -> [WatchPoint] {
    survival.map { [WatchPoint](json: $0) } ?? []
  }

  /// The condition of the promises that are shown.
  ///
  /// - Parameter least: the minimum number of views of a promise.
  package static func isTold(_ least: String) -> String {
    "url <> '' AND late > 0 AND kept + late >= \(least)"
  }
  /// The order of promises by their share of late ones, the greatest first.
  package static let worstFirst =
    "late * 1000000 / (kept + late) DESC, late DESC, url, version, network"

  /// Deletes items with the fewest views.
  ///
  /// - Parameter count: the number of items.
  package static func dropLightestItems(_ count: String) -> String {
    """
    DELETE FROM report_watch WHERE kind = 'item' AND name IN
      (SELECT name FROM report_watch WHERE kind = 'item' ORDER BY views, hour, name LIMIT \(count))
    """
  }

  /// Deletes the promises that were tested least often.
  ///
  /// - Parameter count: the number of promises.
  package static func dropLightestPromises(_ count: String) -> String {
    """
    DELETE FROM report_promise WHERE (url, version, network) IN
      (SELECT url, version, network FROM report_promise WHERE url <> '' AND state = 0
      ORDER BY kept + late, hour, url, version, network LIMIT \(count))
    """
  }

  /// Returns the number of rows to delete: above nine tenths of the limit, down to eight tenths.
  package static func excess(_ count: Int, _ limit: Int) -> Int {
    count > limit - limit / 10 ? count - (limit - limit / 5) : 0
  }
}

extension PromiseRecord {
  /// The values of the columns `ReportText.promise`.
  package var columns: [Int] {
    [hour, all.kept, all.late, recent.kept, recent.late, state.rawValue]
  }

  /// Creates a record of these columns. An unknown state is read as one that holds.
  package init(_ columns: [Int]) {
    self.init(hour: columns[0])
    all = PromiseCounts(kept: columns[1], late: columns[2])
    recent = PromiseCounts(kept: columns[3], late: columns[4])
    state = State(rawValue: columns[5]) ?? .holds
  }
}

extension PackedReport {
  /// Returns the record of an item, with nothing counted if the bytes are damaged.
  ///
  /// - Throws: `PackedError.unknownForm`.
  package static func told(_ bytes: [UInt8], hour: Int) throws(PackedError) -> WatchRecord {
    try readable(bytes, hour: hour)
      ?? WatchRecord(hour: hour, kind: .video, durationMilliseconds: 0, counts: WatchCounts())
  }
}
