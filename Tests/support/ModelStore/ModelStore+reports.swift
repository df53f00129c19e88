import Catalog
import Feed
import Reports

/// What was reported to the model: every part that was counted.
struct ModelReports {
  var batches: [ReportMemory.Batch] = []
  var cells: [ReportCellKey: ReportCell] = [:]
  var items: [ByteText: WatchRecord] = [:]
  var classes: [ClipClass: WatchRecord] = [:]
  var promises: [PromiseKey: PromiseRecord] = [:]

  /// Adds what a part says of items.
  mutating func add(_ parts: [CountedPart], at hour: Int, of limits: WatchLimits) {
    for view in parts.flatMap(\.views) {
      let (record, id) = (view.record(at: hour), ByteText(view.item))
      if items[id] != nil {
        items[id]?.add(record, halvingHours: limits.halvingHours)
      } else if items.count < limits.items {
        items[id] = record
      }
      if classes[record.clipClass]?.add(record, halvingHours: limits.halvingHours) == nil {
        classes[record.clipClass] = record
      }
    }
    var counts: [PromiseKey: PromiseCounts] = [:]
    for (key, met) in parts.flatMap(\.promises) {
      counts[key, default: PromiseCounts()].add(met)
      counts[.all(network: key.network), default: PromiseCounts()].add(met)
    }
    for (key, met) in counts.sorted(by: { PromiseKey.precedes($0.key, $1.key) }) {
      let isNew = promises[key] == nil && !key.url.isEmpty
      if isNew, promises.keys.count(where: { !$0.url.isEmpty }) >= limits.promises { continue }
      promises[key, default: PromiseRecord(hour: hour)].add(met, at: hour)
    }
  }
}

extension ModelStore: ReportStore {
  package func add(
    _ parts: [CountedPart], at hour: Int, after batch: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int, of limits: WatchLimits
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
      reports.add(new, at: hour, of: limits)
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

  package func dropReports(
    before hour: Int, fingerprintsBefore other: Int, of limits: WatchLimits
  ) throws {
    let kept = reports.withLock { reports in
      reports.items = reports.items.filter { $0.value.hour >= hour }
      reports.classes = reports.classes.filter { $0.value.hour >= hour }
      reports.promises = reports.promises.filter { $0.value.hour >= hour }
      func excess(_ count: Int, _ limit: Int) -> Int {
        count > limit - limit / 10 ? count - (limit - limit / 5) : 0
      }
      let items = reports.items.sorted {
        ($0.value.counts.views.rounded(), $0.value.hour, $0.key)
          < ($1.value.counts.views.rounded(), $1.value.hour, $1.key)
      }
      for (id, _) in items.prefix(excess(items.count, limits.items)) { reports.items[id] = nil }
      let count = reports.promises.keys.count { !$0.url.isEmpty }
      let light = reports.promises.filter { !$0.key.url.isEmpty && $0.value.state == .holds }
        .sorted {
          let (left, right) = ($0.value, $1.value)
          if left.all.total != right.all.total { return left.all.total < right.all.total }
          if left.hour != right.hour { return left.hour < right.hour }
          return PromiseKey.precedes($0.key, $1.key)
        }
      for (key, _) in light.prefix(excess(count, limits.promises)) { reports.promises[key] = nil }
      return Set(reports.items.keys)
    }
    change { state in
      for id in state.items.keys where !kept.contains(id) { state.publish([], of: id.text) }
    }
    reports.withLock { reports in
      reports.cells = reports.cells.filter { $0.key.hour >= hour }
      let last = reports.batches.last?.number
      reports.batches.removeAll { $0.hour < other && $0.number != last }
    }
  }

  package func watchedItems(after id: String?, limit: Int) throws -> [WatchedItem] {
    let (items, state) = (reports.withLock { $0.items }, current.state)
    let behind = items.keys.sorted().filter { key in id.map { ByteText($0) < key } ?? true }
    return behind.prefix(limit).map { key in
      WatchedItem(
        id: key.text, record: items[key]!,
        published: state.items[key]?.survival)
    }
  }

  package func watchedClasses() throws -> [ClipClass: WatchRecord] {
    reports.withLock { $0.classes }
  }

  package func publish(_ curves: [(item: String, survival: [WatchPoint])]) throws {
    change { state in
      for (item, survival) in curves { state.publish(survival, of: item) }
    }
  }

  package func promises(_ keys: [PromiseKey]) throws -> [PromiseRecord?] {
    reports.withLock { reports in keys.map { reports.promises[$0] } }
  }

  package func promises(_ state: PromiseRecord.State, limit: Int) throws -> [PromiseKey] {
    guard state != .holds else { return [] }
    return reports.withLock { reports in
      Array(
        reports.promises.filter { $0.value.state == state }.keys.sorted(by: PromiseKey.precedes)
          .prefix(limit))
    }
  }

  package func worstPromises(
    leastViews: Int, limit: Int
  ) throws -> [(key: PromiseKey, record: PromiseRecord)] {
    func share(_ counts: PromiseCounts) -> Int { counts.late * 1_000_000 / counts.total }
    return reports.withLock { reports in
      reports.promises.filter {
        !$0.key.url.isEmpty && $0.value.all.late > 0 && $0.value.all.total >= leastViews
      }.sorted { left, right in
        let (mine, others) = (left.value.all, right.value.all)
        if share(mine) != share(others) { return share(mine) > share(others) }
        return mine.late != others.late
          ? mine.late > others.late : PromiseKey.precedes(left.key, right.key)
      }.prefix(limit).map { ($0.key, $0.value) }
    }
  }

  package func note(_ state: PromiseRecord.State, of keys: [PromiseKey]) throws {
    reports.withLock { reports in for key in keys { reports.promises[key]?.become(state) } }
  }
}
