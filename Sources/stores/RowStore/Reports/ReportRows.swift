import Catalog
import Feed
import Reports

/// The rows of reports, as one kind of database has them, within a transaction that no other writes beside.
package protocol ReportRows {
  /// The batches behind a number, in the order of their numbers.
  func batches(after number: Int64) throws -> [ReportMemory.Batch]
  /// What is added up in a cell, packed; nil if it is not there.
  func figures(_ key: ReportCellKey) throws -> [UInt8]?
  /// Writes a cell.
  func put(_ figures: [UInt8], at key: ReportCellKey) throws
  /// How many cells an hour has.
  func cellCount(hour: Int) throws -> Int
  /// Deletes the batches before a number.
  func deleteBatches(before number: Int64) throws
  /// Writes a batch.
  func add(_ batch: ReportMemory.Batch, packed: [UInt8]) throws
}

extension ReportRows {
  /// See `ReportStore.add`.
  ///
  /// - Throws: what the database says, `PackedError` for a cell that a later program wrote.
  package func add(
    _ parts: [CountedPart], at hour: Int, after last: Int64, forgettingBefore oldest: Int64,
    cellsPerHour: Int
  ) throws -> [ReportMemory.Batch] {
    var batches = try batches(after: last)
    var counted = Set(batches.lazy.flatMap(\.fingerprints))
    var new: [UInt64] = []
    var cells: [ReportCellKey: ReportCell] = [:]
    for part in parts where counted.insert(part.fingerprint).inserted {
      new.append(part.fingerprint)
      cells[part.key, default: ReportCell()].add(part.cell)
    }
    guard !new.isEmpty else { return batches }
    var counts: [Int: Int] = [:]
    // Sorted: with one order of cells, the same parts make the same rows.
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
    let batch = ReportMemory.Batch(
      number: (batches.last?.number ?? last) + 1, hour: hour, fingerprints: new)
    try add(batch, packed: PackedReport.pack(new))
    try deleteBatches(before: min(oldest, batch.number))
    batches.append(batch)
    return batches
  }
}

/// Cells and hashes of parts as bytes.
package enum PackedReport {
  private static let form: UInt8 = 1

  /// A cell: its numbers in the order of their declaration, bins with how many there are before.
  package static func pack(_ cell: ReportCell) -> [UInt8] {
    var writer = PackedWriter()
    let figures = cell.figures
    for number in [
      cell.sessions, cell.parts, cell.sessionsOfOneAddress, cell.itemsSquared,
      cell.loadersSquared, cell.itemsTimesLoaders, figures.items, figures.stalls,
      figures.stalledMilliseconds, figures.requests, figures.plans,
    ] + figures.loaders.counts + figures.bytes.counts { writer.append(number) }
    for bins in [figures.waits, figures.frames] {
      writer.append(bins.counts.count)
      for number in bins.counts { writer.append(number) }
    }
    return writer.sealed(form: form)
  }

  /// The cell that was packed.
  ///
  /// - Throws: `PackedError`.
  package static func cell(_ bytes: [UInt8]) throws(PackedError) -> ReportCell {
    do {
      return try bytes.withUnsafeBufferPointer { bytes in
        var reader = try PackedReader(sealed: bytes, form: form)
        var cell = ReportCell()
        cell.sessions = try reader.number("sessions")
        cell.parts = try reader.number("parts")
        cell.sessionsOfOneAddress = try reader.number("sessionsOfOneAddress")
        cell.itemsSquared = try reader.number("itemsSquared")
        cell.loadersSquared = try reader.number("loadersSquared")
        cell.itemsTimesLoaders = try reader.number("itemsTimesLoaders")
        cell.figures.items = try reader.number("items")
        cell.figures.stalls = try reader.number("stalls")
        cell.figures.stalledMilliseconds = try reader.number("stalledMs")
        cell.figures.requests = try reader.number("requests")
        cell.figures.plans = try reader.number("plans")
        for kind in LoaderKind.allCases {
          cell.figures.loaders[kind] = try reader.number("loaders")
        }
        for fate in ByteFate.allCases { cell.figures.bytes[fate] = try reader.number("bytes") }
        cell.figures.waits = try bins(&reader)
        cell.figures.frames = try bins(&reader)
        try reader.end()
        return cell
      }
    } catch let error as PackedError {
      throw error
    } catch {
      preconditionFailure("a reader of packed bytes throws nothing else: \(error)")
    }
  }

  /// The cell that was packed; nil if the bytes are damaged: `check` tells that, and what is counted next takes their
  /// place.
  ///
  /// - Throws: `PackedError.unknownForm`, of a later program's cell, which is not to be replaced.
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

  /// Hashes, little-endian, eight bytes each.
  package static func pack(_ fingerprints: [UInt64]) -> [UInt8] {
    fingerprints.flatMap { fingerprint in
      (0..<8).map { UInt8(truncatingIfNeeded: fingerprint >> (8 * $0)) }
    }
  }

  /// The hashes that were packed; bytes that are none are left out.
  package static func fingerprints(_ bytes: [UInt8]) -> [UInt64] {
    stride(from: 0, to: bytes.count - bytes.count % 8, by: 8).map { start in
      (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << UInt64(8 * $1) }
    }
  }
}
