import Catalog
import Reports

/// What was reported to the model: every part that was counted.
struct ModelReports {
  var batches: [ReportMemory.Batch] = []
  var cells: [ReportCellKey: ReportCell] = [:]
}

extension ModelStore: ReportStore {
  package func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int
  ) throws -> [ReportMemory.Batch] {
    reports.withLock { reports in
      var counted = Set(reports.batches.flatMap(\.fingerprints))
      let new = parts.filter { counted.insert($0.fingerprint).inserted }
      var sums: [ReportCellKey: ReportCell] = [:]
      for part in new { sums[part.key, default: ReportCell()].add(part.cell) }
      for (key, sum) in sums.sorted(by: { $0.key < $1.key }) {
        let hasRoom = reports.cells.keys.count { $0.hour == key.hour } < cellsPerHour
        let place = reports.cells[key] != nil || hasRoom ? key : .others(hour: key.hour)
        reports.cells[place, default: ReportCell()].add(sum)
      }
      if !new.isEmpty {
        reports.batches.append(
          ReportMemory.Batch(
            number: (reports.batches.last?.number ?? 0) + 1, hour: hour,
            fingerprints: new.map(\.fingerprint)))
        let last = reports.batches.last?.number ?? 0
        reports.batches.removeAll { $0.number < min(oldest, last) }
      }
      return reports.batches.filter { $0.number > batch }
    }
  }

  package func reportBatches() throws -> [ReportMemory.Batch] {
    reports.withLock { $0.batches }
  }

  package func readReportCells(
    since hour: Int, _ body: (ReportCellKey, ReportCell) throws -> Void
  ) throws {
    let cells = reports.withLock { $0.cells }
    for (key, cell) in cells.sorted(by: { $0.key < $1.key }) where key.hour >= hour {
      try body(key, cell)
    }
  }

  package func dropReports(before hour: Int, fingerprintsBefore other: Int) throws {
    reports.withLock { reports in
      reports.cells = reports.cells.filter { $0.key.hour >= hour }
      let last = reports.batches.last?.number
      reports.batches.removeAll { $0.hour < other && $0.number != last }
    }
  }
}
