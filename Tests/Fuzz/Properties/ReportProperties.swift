import Feed
import JSON
import PostJSON
import Reports

/// What must hold of reports, whatever a client sends.
enum ReportProperties {
  /// What does not hold, as a sentence. An odd first byte means CMCD; what follows is the report.
  static func fault(in input: [UInt8]) -> String? {
    let input = FuzzInput(input)
    let content = Array(input.content)
    return input.choice & 1 == 0 ? partFault(content) : linesFault(content)
  }

  private static func partFault(_ bytes: [UInt8]) -> String? {
    guard let part = try? ReportPart(json: bytes) else { return nil }
    if let (field, words) = part.problem { return "\(field) \(words), and it was read" }
    var writer = JSONWriter()
    writer.part(part)
    guard let again = try? ReportPart(json: writer.bytes) else {
      return "written anew it is not read: \(String(decoding: writer.bytes, as: UTF8.self))"
    }
    return again == part ? nil : "written anew it is another: \(again)"
  }

  private static func linesFault(_ bytes: [UInt8]) -> String? {
    guard let reports = try? CMCDReport.reports(in: bytes) else { return nil }
    if reports.isEmpty || reports.count > CMCDReport.lines {
      return "there are \(reports.count) lines"
    }
    var (forwards, backwards) = (ReportCell(), ReportCell())
    for report in reports {
      let part = report.part
      if report.session.isEmpty { return "a report has no session" }
      if part.figures.items > 1 || part.figures.loaders.total > part.figures.items
        || part.figures.waits.total != part.figures.loaders.total
      {
        return "a report has \(part.figures)"
      }
      if part.figures.bytes.counts.contains(where: { !(0...ReportLimits.bytes).contains($0) })
        || !(0...ReportLimits.sessionMilliseconds).contains(part.figures.stalledMilliseconds)
      {
        return "a report is beyond its limits: \(part.figures)"
      }
      forwards.add(ReportCell(part))
    }
    for report in reports.reversed() { backwards.add(ReportCell(report.part)) }
    return forwards == backwards ? nil : "the order of reports counts"
  }
}
