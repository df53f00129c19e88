import Feed
import JSON
import Reports

extension JSONWriter {
  /// What clients met of late.
  public mutating func live(_ report: LiveReport) {
    object { writer in
      writer.member("since", LiveReport.time(ofHour: report.sinceHour))
      writer.member("leastSessions", report.leastSessions)
      if let total = report.total {
        writer.key("total")
        writer.object { $0.members(of: total) }
      }
      for (name, list) in [
        ("policies", report.policies), ("feeds", report.feeds), ("hours", report.hours),
      ] as [(StaticString, LiveReport.List)] {
        writer.key(name)
        writer.object { writer in
          writer.member("small", list.small)
          writer.key("groups")
          writer.array { writer in
            for group in list.groups { writer.group(group, of: list) }
          }
        }
      }
    }
  }

  private mutating func group(_ group: LiveReport.Group, of list: LiveReport.List) {
    object { writer in
      if let values = group.values {
        // What clients did not say is unknown, and absent.
        for (name, value) in zip(list.names, values) where !value.isEmpty {
          writer.key(text: name.rawValue)
          writer.string(name == .hour ? LiveReport.time(ofHour: Int(value) ?? 0) : value)
        }
      } else {
        writer.key("isRest")
        writer.boolean(true)
      }
      writer.members(of: group.cell)
    }
  }

  private mutating func members(of cell: ReportCell) {
    let figures = cell.figures
    member("sessions", cell.sessions)
    member("parts", cell.parts)
    member("sessionsOfOneAddress", cell.sessionsOfOneAddress)
    member("items", figures.items)
    key("loaders")
    object { writer in
      for kind in LoaderKind.allCases { writer.member(kind.name, figures.loaders[kind]) }
    }
    if let per = cell.loadersPerThousand { member("loadersPer1000", hundredths: per) }
    if let interval = cell.intervalPerThousand {
      key("interval")
      array { writer in
        for bound in [interval.lowerBound, interval.upperBound] {
          writer.number((bound * 100).rounded() / 100)
        }
      }
    }
    durations("waitMs", figures.waits)
    durations("frameMs", figures.frames)
    member("stalls", figures.stalls)
    member("stalledMs", figures.stalledMilliseconds)
    key("bytes")
    object { writer in
      for fate in ByteFate.allCases { writer.member(fate.name, figures.bytes[fate]) }
    }
    member("requests", figures.requests)
    member("plans", figures.plans)
  }

  private mutating func durations(_ name: StaticString, _ bins: DurationBins) {
    guard !bins.isEmpty else { return }
    key(name)
    object { writer in
      for (name, quantile) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)]
        as [(StaticString, Double)]
      {
        writer.member(name, hundredths: bins.milliseconds(atQuantile: quantile) ?? 0)
      }
      writer.key("bins")
      writer.bins(bins)
    }
  }

  private mutating func member(_ name: StaticString, hundredths value: Double) {
    key(name)
    number((value * 100).rounded() / 100)
  }
}

extension LiveReport {
  /// When an hour begins (RFC 3339).
  ///
  /// - Parameter hour: hours since 1970.
  public static func time(ofHour hour: Int) -> String {
    Timestamp(microseconds: Int64(hour) * 3_600_000_000).rfc3339
  }
}
