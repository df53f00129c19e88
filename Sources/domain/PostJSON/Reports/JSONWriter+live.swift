import Feed
import JSON
import Reports

extension JSONWriter {
  /// Writes a live report.
  ///
  /// - Parameters:
  ///   - files: The worst files of the ledger of promises.
  ///   - clips: The survival curves of classes of clips.
  public mutating func live(
    _ report: LiveReport, files: [(key: PromiseKey, record: PromiseRecord)] = [],
    clips: [LearnedClips] = []
  ) {
    object { writer in
      writer.array("files") { writer in for file in files { writer.file(file.key, file.record) } }
      writer.array("watching") { writer in
        for learned in clips { writer.learned(learned) }
      }
      writer.member("since", LiveReport.time(ofHour: report.sinceHour))
      writer.member("leastSessions", report.leastSessions)
      writer.object("rates") { writer in
        writer.member("gigabyteCents", report.rates.gigabyteCents)
        writer.member("monthSessions", report.rates.monthSessions)
      }
      if let total = report.total {
        writer.object("total") { $0.members(of: total, report.rates) }
      }
      for (name, list, avoided) in [
        ("policies", report.policies, report.avoided), ("feeds", report.feeds, []),
        ("hours", report.hours, []),
      ] as [(StaticString, LiveReport.List, [Bill.Avoided?])] {
        writer.key(name)
        writer.object { writer in
          writer.member("small", list.small)
          writer.array("groups") { writer in
            for (place, group) in list.groups.enumerated() {
              writer.group(
                group, of: list, report.rates,
                place < avoided.count ? avoided[place] : nil)
            }
          }
        }
      }
      guard !report.outcomes.isEmpty else { return }
      writer.array("predictions") { writer in
        for outcome in report.outcomes {
          writer.object { writer in
            writer.member("feed", outcome.feed)
            writer.member("network", outcome.network)
            writer.member("policy", outcome.policy)
            writer.key("outcome")
            writer.outcome(outcome)
          }
        }
      }
    }
  }

  private mutating func file(_ key: PromiseKey, _ record: PromiseRecord) {
    object { writer in
      writer.member("url", key.url)
      if !key.network.isEmpty { writer.member("network", key.network) }
      writer.member("views", record.all.total)
      writer.member("late", record.all.late)
      writer.key("state")
      writer.string("\(record.state.name)")
    }
  }

  private mutating func learned(_ learned: LearnedClips) {
    let clips = learned.clips
    object { writer in
      writer.member("kind", clips.kind.rawValue)
      if clips.number > 0 { writer.member("aboveMs", ClipClass.bounds[clips.number - 1]) }
      if clips.number < ClipClass.bounds.count {
        writer.member("toMs", ClipClass.bounds[clips.number])
      }
      writer.member("views", learned.views)
      // Points by share of the duration, in thousandths.
      writer.pairs("survival", learned.curve.points(durationMilliseconds: 1_000)) {
        ($0.milliseconds, $0.permille)
      }
    }
  }

  private mutating func group(
    _ group: LiveReport.Group, of list: LiveReport.List, _ rates: Bill.Rates,
    _ avoided: Bill.Avoided?
  ) {
    object { writer in
      if let values = group.values {
        // Values that clients did not report are unknown, and omitted.
        for (name, value) in zip(list.names, values) where !value.isEmpty {
          writer.key(text: name.rawValue)
          writer.string(name == .hour ? LiveReport.time(ofHour: Int(value) ?? 0) : value)
        }
      } else {
        writer.key("isRest")
        writer.boolean(true)
      }
      writer.members(of: group.cell, rates)
      if let avoided { writer.avoided(avoided, of: list, rates) }
    }
  }

  private mutating func avoided(
    _ avoided: Bill.Avoided, of list: LiveReport.List, _ rates: Bill.Rates
  ) {
    object("avoided") { writer in
      writer.object("baseline") { writer in
        for (name, value) in zip(list.names, avoided.baseline) where !value.isEmpty {
          writer.key(text: name.rawValue)
          writer.string(value)
        }
      }
      if avoided.isComputed {
        writer.key("computed")
        writer.boolean(true)
      }
      writer.member("per1000", hundredths: avoided.perThousand)
      writer.interval(avoided.interval)
      writer.member("unseenBytesPerItem", hundredths: avoided.bytesPerItem)
      guard let bytes = avoided.bytesPerLoader else { return }
      writer.member("bytesPerLoader", hundredths: bytes)
      writer.member("centsPer1000", hundredths: rates.cents(ofBytes: bytes * 1000))
    }
  }

  private mutating func interval(_ interval: ClosedRange<Double>?) {
    guard let interval else { return }
    array("interval") { writer in
      for bound in [interval.lowerBound, interval.upperBound] {
        writer.number((bound * 100).rounded() / 100)
      }
    }
  }

  /// Writes the unseen bytes, in total and per person and month.
  private mutating func bill(_ cell: ReportCell, _ rates: Bill.Rates) {
    guard let bytes = cell.monthUnseenBytes(rates) else { return }
    object("unseen") { writer in
      writer.member("bytes", cell.unseenBytes)
      writer.member("cents", hundredths: rates.cents(ofBytes: Double(cell.unseenBytes)))
      writer.member("monthMB", hundredths: bytes / 1e6)
      writer.member("monthCents", hundredths: rates.cents(ofBytes: bytes))
      writer.object("monthMBByReason") { writer in
        for fate in Bill.reasons {
          writer.member(fate.name, hundredths: (cell.monthBytes(fate, rates) ?? 0) / 1e6)
        }
      }
    }
  }

  private mutating func members(of cell: ReportCell, _ rates: Bill.Rates) {
    let figures = cell.figures
    member("sessions", cell.sessions)
    member("parts", cell.parts)
    member("sessionsOfOneAddress", cell.sessionsOfOneAddress)
    member("items", figures.items)
    object("loaders") { writer in
      for kind in LoaderKind.allCases { writer.member(kind.name, figures.loaders[kind]) }
    }
    if let per = cell.loadersPerThousand { member("loadersPer1000", hundredths: per) }
    interval(cell.intervalPerThousand)
    durations("waitMs", figures.waits)
    durations("frameMs", figures.frames)
    member("stalls", figures.stalls)
    member("stalledMs", figures.stalledMilliseconds)
    object("bytes") { writer in
      for fate in ByteFate.allCases { writer.member(fate.name, figures.bytes[fate]) }
    }
    member("requests", figures.requests)
    member("plans", figures.plans)
    bill(cell, rates)
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
  /// Returns the time at which an hour begins (RFC 3339).
  ///
  /// - Parameter hour: The hour, in hours since 1970.
  public static func time(ofHour hour: Int) -> String {
    Timestamp(microseconds: Int64(hour) * 3_600_000_000).rfc3339
  }
}
