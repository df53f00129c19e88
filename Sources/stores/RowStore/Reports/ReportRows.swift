import Catalog
import Feed
import Reports

/// The rows of reports in one kind of database, within a transaction while no other writes.
package protocol ReportRows {
  /// Returns the batches after a number, in the order of their numbers.
  func batches(after number: Int64) throws -> [ReportMemory.Batch]
  /// Returns the sums of a cell, packed; nil if the cell does not exist.
  func figures(_ key: ReportCellKey) throws -> [UInt8]?
  /// Writes a cell.
  func put(_ figures: [UInt8], at key: ReportCellKey) throws
  /// Returns the number of cells of an hour.
  func cellCount(hour: Int) throws -> Int
  /// Deletes the batches before a number.
  func deleteBatches(before number: Int64) throws
  /// Writes a batch.
  func add(_ batch: ReportMemory.Batch, packed: [UInt8]) throws
  /// Returns what was counted of an item or a class of clips, packed; nil if nothing was.
  func watched(_ place: WatchPlace) throws -> (hour: Int, figures: [UInt8])?
  /// Writes what was counted.
  func put(_ figures: [UInt8], views: Int, hour: Int, at place: WatchPlace) throws
  /// Returns the number of items that are counted separately.
  func watchedCount() throws -> Int
  /// Returns what is known of a promise.
  func promise(_ key: PromiseKey) throws -> PromiseRecord?
  /// Writes what is known of a promise.
  func put(_ record: PromiseRecord, at key: PromiseKey) throws
  /// Returns the number of promises.
  func promiseCount() throws -> Int
}

/// The item or class of clips whose views are counted.
package enum WatchPlace: Hashable {
  case item(ByteText)
  case clips(ClipClass)

  /// Creates the place that these columns name; nil if there is none.
  package init?(kind: String, name: String) {
    if kind == "item" {
      self = .item(ByteText(name))
    } else {
      guard let kind = MediaKind(rawValue: kind), let number = Int(name),
        let clips = ClipClass(kind: kind, number: number)
      else { return nil }
      self = .clips(clips)
    }
  }

  /// The column `kind`.
  package var kind: String {
    switch self {
    case .item: "item"
    case .clips(let clips): clips.kind.rawValue
    }
  }

  /// The column `name`.
  package var name: String {
    switch self {
    case .item(let id): id.text
    case .clips(let clips): "\(clips.number)"
    }
  }
}

extension ReportRows {
  /// See `ReportStore.add`.
  ///
  /// - Throws: errors of the database, `PackedError` for a cell that a later program wrote.
  package func add(
    _ parts: [CountedPart], at hour: Int, after last: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int, of limits: WatchLimits
  ) throws -> [ReportMemory.Batch] {
    var batches = try batches(after: last)
    var counted = Set(batches.lazy.flatMap(\.fingerprints))
    var new: [UInt64] = []
    var cells: [ReportCellKey: ReportCell] = [:]
    var views: [WatchedView] = []
    var promises: [PromiseKey: PromiseCounts] = [:]
    for part in parts where counted.insert(part.fingerprint).inserted {
      new.append(part.fingerprint)
      cells[part.key, default: ReportCell()].add(part.cell)
      views += part.views
      for (key, counts) in part.promises { promises[key, default: PromiseCounts()].add(counts) }
    }
    guard !new.isEmpty else { return batches }
    var counts: [Int: Int] = [:]
    // Sorted, so that the same parts make the same rows in any order.
    for (key, cell) in cells.sorted(by: { $0.key < $1.key }) {
      var place = key
      var known = try figures(key)
      if known == nil {
        let count = try counts[key.hour] ?? cellCount(hour: key.hour)
        if count < cellsPerHour {
          counts[key.hour] = count + 1
        } else {
          counts[key.hour] = count
          place = .others(hour: key.hour)
          known = try figures(place)
        }
      }
      var sum = try known.flatMap(PackedReport.readable) ?? ReportCell()
      sum.add(cell)
      try put(PackedReport.pack(sum), at: place)
    }
    try add(views, at: hour, limits)
    try add(promises, at: hour, limits)
    let batch = ReportMemory.Batch(
      number: (batches.last?.number ?? last) + 1, hour: hour, fingerprints: new)
    try add(batch, packed: PackedReport.pack(new))
    try deleteBatches(before: min(oldest, batch.number))
    batches.append(batch)
    return batches
  }

  private func add(_ views: [WatchedView], at hour: Int, _ limits: WatchLimits) throws {
    var new: [WatchPlace: WatchRecord] = [:]
    for view in views {
      let record = view.record(at: hour)
      for place in [WatchPlace.item(ByteText(view.item)), .clips(record.clipClass)] {
        if new[place]?.add(record, halvingHours: limits.halvingHours) == nil { new[place] = record }
      }
    }
    var count: Int?
    let places = new.sorted { left, right in
      (left.key.kind, ByteText(left.key.name)) < (right.key.kind, ByteText(right.key.name))
    }
    for (place, record) in places {
      var sum = record
      if let known = try watched(place) {
        if var older = try PackedReport.readable(known.figures, hour: known.hour) {
          older.add(record, halvingHours: limits.halvingHours)
          sum = older
        }
      } else if case .item = place {
        // If there is no room, it is counted only in its class.
        let items = try count ?? watchedCount()
        count = items
        guard items < limits.items else { continue }
        count = items + 1
      }
      try put(
        PackedReport.pack(sum), views: Int(sum.counts.views.rounded()), hour: sum.hour, at: place)
    }
  }

  private func add(
    _ promises: [PromiseKey: PromiseCounts], at hour: Int, _ limits: WatchLimits
  ) throws {
    var new: [PromiseKey: PromiseCounts] = promises
    for (key, counts) in promises {
      new[.all(network: key.network), default: PromiseCounts()].add(counts)
    }
    var count: Int?
    for (key, counts) in new.sorted(by: { PromiseKey.precedes($0.key, $1.key) }) {
      var record = try promise(key)
      if record == nil, !key.url.isEmpty {
        let known = try count ?? promiseCount()
        count = known
        guard known < limits.promises else { continue }
        count = known + 1
      }
      record = record ?? PromiseRecord(hour: hour)
      record?.add(counts, at: hour)
      if let record { try put(record, at: key) }
    }
  }
}

/// Cells and hashes of parts as bytes.
package enum PackedReport {
  private static let form: UInt8 = 1
  /// The form of cells with the moments of sessions and with links. Cells of form 2 have no links, and
  /// cells of form 1 have neither.
  private static let cellForm: UInt8 = 3

  /// Packs a cell: its numbers in the order of their declaration, bins after their count.
  package static func pack(_ cell: ReportCell) -> [UInt8] {
    var writer = PackedWriter()
    let figures = cell.figures
    for number in [
      cell.sessions, cell.parts, cell.sessionsOfOneAddress, figures.items, figures.stalls,
      figures.stalledMilliseconds, figures.requests, figures.plans,
    ] + figures.loaders.counts + figures.bytes.counts { writer.append(number) }
    for numbers in [cell.moments.sums, cell.moments.squares, cell.moments.timesItems] {
      for number in numbers { writer.append(number) }
    }
    for bins in [figures.waits, figures.frames, cell.links.downlinks, cell.links.roundTrips] {
      writer.append(bins.counts.count)
      for number in bins.counts { writer.append(number) }
    }
    return writer.sealed(form: cellForm)
  }

  /// Reads a packed cell.
  ///
  /// - Throws: `PackedError`.
  package static func cell(_ bytes: [UInt8]) throws(PackedError) -> ReportCell {
    do {
      return try bytes.withUnsafeBufferPointer { bytes in
        let told = bytes.first ?? cellForm
        let isOld = told == form
        var reader = try PackedReader(
          sealed: bytes, form: (form...cellForm).contains(told) ? told : cellForm)
        var cell = ReportCell()
        cell.sessions = try reader.number("sessions")
        cell.parts = try reader.number("parts")
        cell.sessionsOfOneAddress = try reader.number("sessionsOfOneAddress")
        // The squares of parts, each of which counted as a session.
        let old = try isOld ? (0..<3).map { _ in try reader.number("squares") } : []
        cell.figures.items = try reader.number("items")
        cell.figures.stalls = try reader.number("stalls")
        cell.figures.stalledMilliseconds = try reader.number("stalledMs")
        cell.figures.requests = try reader.number("requests")
        cell.figures.plans = try reader.number("plans")
        for kind in LoaderKind.allCases {
          cell.figures.loaders[kind] = try reader.number("loaders")
        }
        for fate in ByteFate.allCases { cell.figures.bytes[fate] = try reader.number("bytes") }
        cell.moments = try isOld ? moments(of: cell.figures, old) : moments(&reader)
        cell.figures.waits = try bins(&reader)
        cell.figures.frames = try bins(&reader)
        if told == cellForm {
          cell.links.downlinks = try bins(&reader)
          cell.links.roundTrips = try bins(&reader)
        }
        try reader.end()
        return cell
      }
    } catch let error as PackedError {
      throw error
    } catch {
      preconditionFailure("a reader of packed bytes throws nothing else: \(error)")
    }
  }

  private static func moments(_ reader: inout PackedReader) throws(PackedError) -> SessionMoments {
    var moments = SessionMoments()
    for index in moments.sums.indices { moments.sums[index] = try reader.number("sums") }
    for index in moments.squares.indices { moments.squares[index] = try reader.number("squares") }
    for index in moments.timesItems.indices {
      moments.timesItems[index] = try reader.number("products")
    }
    return moments
  }

  /// Returns the moments of a cell of form 1, which has those of items and loaders alone.
  private static func moments(of figures: ReportFigures, _ squares: [Int]) -> SessionMoments {
    var moments = SessionMoments()
    let (items, loaders) = (SessionMeasure.items.rawValue, SessionMeasure.loaders.rawValue)
    (moments.sums[items], moments.sums[loaders]) = (figures.items, figures.loaders.total)
    (moments.squares[items], moments.squares[loaders]) = (squares[0], squares[1])
    (moments.timesItems[items], moments.timesItems[loaders]) = (squares[0], squares[2])
    return moments
  }

  /// Packs what was counted of an item or a class: its kind and duration, and the bins without the empty
  /// ones at their end.
  package static func pack(_ record: WatchRecord) -> [UInt8] {
    var writer = PackedWriter()
    writer.append(record.kind == .audio ? 1 : 0)
    writer.append(record.durationMilliseconds)
    for counts in [record.counts.ended, record.counts.censored] {
      let used = (counts.lastIndex { $0 > 0 } ?? -1) + 1
      writer.append(used)
      for count in counts.prefix(used) { writer.append(count) }
    }
    return writer.sealed(form: form)
  }

  /// Reads a packed record, as of an hour.
  ///
  /// - Throws: `PackedError`.
  package static func record(_ bytes: [UInt8], hour: Int) throws(PackedError) -> WatchRecord {
    do {
      return try bytes.withUnsafeBufferPointer { bytes in
        var reader = try PackedReader(sealed: bytes, form: form)
        let kind: MediaKind = try reader.number("kind", in: 0...1) == 1 ? .audio : .video
        let duration = try reader.number("durationMs")
        func counts() throws -> [Int] {
          let bins = WatchCounts.bounds.count
          let used = try (0..<reader.number("bins", in: 0...bins)).map { _ in
            try reader.number("count")
          }
          return used + Array(repeating: 0, count: bins - used.count)
        }
        let (ended, censored) = (try counts(), try counts())
        try reader.end()
        guard let counts = WatchCounts(ended: ended, censored: censored) else {
          throw PackedError.impossible("counts")
        }
        return WatchRecord(
          hour: hour, kind: kind, durationMilliseconds: duration, counts: counts)
      }
    } catch let error as PackedError {
      throw error
    } catch {
      preconditionFailure("a reader of packed bytes throws nothing else: \(error)")
    }
  }

  /// Reads a packed record of an item or a class; nil if the bytes are damaged, as for a cell.
  ///
  /// - Throws: `PackedError.unknownForm`.
  package static func readable(
    _ bytes: [UInt8], hour: Int
  ) throws(PackedError) -> WatchRecord? {
    do throws(PackedError) {
      return try record(bytes, hour: hour)
    } catch .unknownForm(let form?) {
      throw .unknownForm(form)
    } catch {
      return nil
    }
  }

  /// Reads a packed cell; nil if the bytes are damaged: `check` reports that, and what is counted next
  /// replaces them.
  ///
  /// - Throws: `PackedError.unknownForm` for a later program's cell, which must not be replaced.
  package static func readable(_ bytes: [UInt8]) throws(PackedError) -> ReportCell? {
    do throws(PackedError) {
      return try cell(bytes)
    } catch .unknownForm(let form?) {
      throw .unknownForm(form)
    } catch {
      return nil
    }
  }

  private static func bins(_ reader: inout PackedReader) throws(PackedError) -> DurationBins {
    var bins = DurationBins()
    for bin in 0..<(try reader.number("bins", in: 0...DurationBins.count)) {
      bins.add(try reader.number("count"), inBin: bin)
    }
    return bins
  }

  /// Packs hashes, little-endian, eight bytes each.
  package static func pack(_ fingerprints: [UInt64]) -> [UInt8] {
    fingerprints.flatMap { fingerprint in
      (0..<8).map { UInt8(truncatingIfNeeded: fingerprint >> (8 * $0)) }
    }
  }

  /// Reads packed hashes; trailing bytes that are no hash are left out.
  package static func fingerprints(_ bytes: [UInt8]) -> [UInt64] {
    stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
      (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[start + $1]) << (8 * $1) }
    }
  }
}
