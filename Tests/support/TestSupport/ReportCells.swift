import Catalog
import Reports

extension ReportStore {
  /// The cells from an hour on.
  package func reportCells(
    since hour: Int
  ) throws -> [(key: ReportCellKey, cell: ReportCell)] {
    var cells: [(key: ReportCellKey, cell: ReportCell)] = []
    try readReportCells(since: hour) { cells.append(($0, $1)) }
    return cells
  }
}
