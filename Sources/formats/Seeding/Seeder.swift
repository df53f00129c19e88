// `Seeder` first inspects all inputs (`InspectedInput`): their compression (`Decompression`) and their format
// (`FeedFormat.guess`, from the first 16 KiB). If one cannot be read, the run stops before anything is
// loaded. Then the `RecordReader` of each format turns bytes into records. In every format the records are
// JSON in the project's own form, so that all share the rest: `RecordDecoder` on all cores, with the same
// limits and error messages, and batches to the store. A reader of another format is a translation
// (`MastodonStatus`, `RSSItem`, `CSVColumns` …) around a splitter: `JSONReader` holds one JSON value,
// `XMLFeedReader` one item, `CSVReader` one row. Parts of a format for which records have no field are
// counted (`Omission`) and reported.
//
// `Fixtures/formats` has a sample of each format,
// `Tests/formats/FeedFormatsTests/Expected` the resulting records.
//
// `RecordSplitter` splits the input into records and `RecordDecoder` decodes them on all cores, while
// `FeedImport` writes the previous batch; one batch is one transaction, and at most two are in memory. Within
// a batch (`ImportBatch`), moves are applied before new entries, so that a new entry knows whether its run
// ranks the feed again; if so, it too waits until the end. A run into a database without posts creates some
// indexes last: those in which each post would change another page (`LateIndexes`). They affect only speed;
// if the run is killed, the next process that opens the database creates them.

import Catalog
import Feed
import FeedFormats
import PostJSON
import Foundation
import Synchronization
import System

/// A record that was refused.
package struct SeedProblem: Hashable, Sendable, CustomStringConvertible {
  /// The name of the `SeedInput`.
  package let input: String
  /// The line on which the record begins, from 1.
  package let line: Int
  /// The problem, with the field if one is at fault, and the record's id if it is known:
  /// `post "p1": tags[3]: is not a text`.
  package let problem: String

  /// `file:line: what is wrong`
  package var description: String { "\(input):\(line): \(problem)" }
}

/// The progress of a run.
package struct SeedProgress: Hashable, Sendable {
  /// Good records that were passed to the store.
  package var records = 0
  /// Bad records that were left out.
  package var skipped = 0

  /// Creates the progress of a run that has not begun.
  package init() {}
}

/// The result of a run.
package struct SeedReport: Sendable {
  /// The store's summary of the good records.
  package let summary: ImportSummary
  /// The number of bad records that were left out.
  package var skipped = 0
  /// The number of loaded posts whose records name no feed, if the seeder has no default feed.
  package var withoutFeed = 0
  /// The parts of other formats for which records have no field.
  package var omissions = Omissions()
}

/// A strict run met a bad record and stopped.
///
/// The records before it are in the store. A feed that the run ranked again keeps its old
/// order until a run finishes.
package struct SeedStopped: Error {
  /// The problem that stopped the run.
  package let problem: SeedProblem
}

/// Loads records into a store.
///
/// It splits and decodes one batch on all cores while it writes the previous one, and holds no more than
/// these two in memory. A batch is one transaction. Bad records are reported and left out; the good ones
/// around them are written.
package struct Seeder: Sendable {
  /// The number of records in a transaction.
  package var batchRecords: Int
  /// The maximum size of a batch: it ends here even with fewer records, so that the memory of a run is bounded.
  package var batchBytes: Int
  /// The maximum size of a record.
  package var recordLimitBytes: Int
  /// The maximum size of a JSON document of another format, which is read as a whole.
  package var documentLimitBytes = FormatSettings.defaultDocumentLimitBytes
  /// The maximum decompressed size of a compressed input.
  package var decompressedLimitBytes = 64 << 30
  /// Whether the run stops at the first bad record.
  package var isStrict: Bool
  /// The format of the inputs; nil to guess it for each.
  package var format: FeedFormat?
  /// The mapping of columns of a CSV, or values of a JSON object, to fields.
  package var columns: [ColumnMapping] = []
  /// The time zone of times without one.
  package var timeZone = LocalTimeZone.utc
  /// The feed of posts whose records name none.
  package var feed: String?

  /// The default of `batchRecords`.
  package static let defaultBatchRecords = 2_000
  /// The default of `batchBytes`.
  package static let defaultBatchBytes = 8 << 20
  /// The default of `recordLimitBytes`.
  package static let defaultRecordLimitBytes = 1 << 20

  /// Creates a seeder with these limits, all above 0.
  package init(
    batchRecords: Int = Seeder.defaultBatchRecords,
    batchBytes: Int = Seeder.defaultBatchBytes,
    recordLimitBytes: Int = Seeder.defaultRecordLimitBytes, isStrict: Bool = false
  ) {
    precondition(batchRecords > 0 && batchBytes > 0 && recordLimitBytes > 0)
    self.batchBytes = batchBytes
    self.batchRecords = batchRecords
    self.recordLimitBytes = recordLimitBytes
    self.isStrict = isStrict
  }

  /// Inspects inputs: whether each is readable, and its format.
  ///
  /// - Throws: `SeedInputError`, and what a source other than a file throws.
  package func inspect(_ inputs: [SeedInput]) throws -> [InspectedInput] {
    try inputs.map { try InspectedInput($0, said: format, columns: columns) }
  }

  /// Inspects all inputs and loads them.
  ///
  /// - Throws: as `inspect` and the `run` of inspected inputs do.
  package func run(
    _ inputs: [SeedInput], into store: some FeedStore,
    onProblem: (SeedProblem) -> Void, onProgress: (SeedProgress) -> Void
  ) throws -> SeedReport {
    try run(inspect(inputs), into: store, onProblem: onProblem, onProgress: onProgress)
  }

  /// Loads the inputs, one after the other, and finishes the run.
  ///
  /// - Throws: `SeedInputError`, `SeedStopped`, and what the store throws. Batches written
  ///   before stay in the store.
  package func run(
    _ inputs: [InspectedInput], into store: some FeedStore,
    onProblem: (SeedProblem) -> Void, onProgress: (SeedProgress) -> Void
  ) throws -> SeedReport {
    let writer = BatchWriter(try store.beginImport())
    // However the run ends, no write continues after it.
    defer { try? writer.wait() }
    var run = Run()
    for input in inputs {
      // Among several documents, the first one names the feed; otherwise each would replace the
      // title of the one before.
      var reader = input.format.reader(settings(titlesFeed: !run.isTitled))
      var batch: [RawRecord] = []
      var bytes = 0
      func add(_ record: RawRecord) throws {
        batch.append(record)
        if case .success(let content) = record.content { bytes += content.count }
        if batch.count == batchRecords || bytes >= batchBytes { try flush() }
      }
      func flush() throws {
        let decoded = decode(batch)
        batch.removeAll(keepingCapacity: true)
        bytes = 0
        try take(decoded, of: input, writer, &run, onProblem)
        onProgress(run.progress)
      }
      try input.read(limitBytes: decompressedLimitBytes) { try reader.feed($0, add) }
      try reader.finish(add)
      if !batch.isEmpty { try flush() }
      run.omissions.add(reader.omissions)
    }
    return SeedReport(
      summary: try writer.finish(), skipped: run.progress.skipped, withoutFeed: run.withoutFeed,
      omissions: run.omissions)
  }

  /// The intermediate results of a run.
  private struct Run {
    var progress = SeedProgress()
    var withoutFeed = 0
    var omissions = Omissions()
    /// Whether a document of another format has given the feed its title.
    var isTitled = false
  }

  private func settings(titlesFeed: Bool) -> FormatSettings {
    var settings = FormatSettings(
      recordLimitBytes: recordLimitBytes, documentLimitBytes: documentLimitBytes, columns: columns,
      feed: feed, titlesFeed: titlesFeed)
    settings.timeZone = timeZone
    return settings
  }

  /// Loads records that are already decoded.
  ///
  /// - Throws: what the store throws.
  package func run(
    _ records: some Sequence<SeedRecord>, into store: some FeedStore,
    onProgress: (SeedProgress) -> Void
  ) throws -> SeedReport {
    let writer = BatchWriter(try store.beginImport())
    // However the run ends, no write continues after it.
    defer { try? writer.wait() }
    var progress = SeedProgress()
    var batch: [SeedRecord] = []
    func flush() throws {
      progress.records += batch.count
      try writer.write(batch)
      batch.removeAll(keepingCapacity: true)
      onProgress(progress)
    }
    for record in records {
      batch.append(record)
      if batch.count == batchRecords { try flush() }
    }
    try flush()
    return SeedReport(summary: try writer.finish())
  }

  /// The error of a record, with the record's id.
  private struct Refusal: Error { let problem: String }

  private typealias Decoded = (line: Int, record: Result<SeedRecord, Refusal>)

  private func take(
    _ decoded: [Decoded], of input: InspectedInput, _ writer: BatchWriter,
    _ run: inout Run, _ onProblem: (SeedProblem) -> Void
  ) throws {
    var records: [SeedRecord] = []
    records.reserveCapacity(decoded.count)
    for (line, result) in decoded {
      switch result {
      case .success(let record): records.append(placed(record, &run))
      case .failure(let error):
        let problem = SeedProblem(input: input.input.name, line: line, problem: error.problem)
        if isStrict {
          try writer.write(records)
          try writer.wait()
          throw SeedStopped(problem: problem)
        }
        onProblem(problem)
        run.progress.skipped += 1
      }
    }
    if input.format != .records {
      run.isTitled = run.isTitled || records.contains { if case .feed = $0 { true } else { false } }
    }
    run.progress.records += records.count
    try writer.write(records)
  }

  /// Returns the record in the default feed if it names none.
  private func placed(_ record: SeedRecord, _ run: inout Run) -> SeedRecord {
    guard case .post(let post, let placements) = record, placements.isEmpty else { return record }
    if let feed { return .post(post, placements: [Placement(feed: feed)]) }
    run.withoutFeed += 1
    return record
  }

  /// Decodes on all cores.
  private func decode(_ raw: [RawRecord]) -> [Decoded] {
    let parts = max(1, min(ProcessInfo.processInfo.activeProcessorCount, raw.count / 64))
    let size = (raw.count + parts - 1) / parts
    let results = Mutex([[Decoded]](repeating: [], count: parts))
    runConcurrently(parts) { part in
      let decoder = RecordDecoder()
      let slice = raw[min(part * size, raw.count)..<min((part + 1) * size, raw.count)]
      let decoded = slice.map { ($0.line, Self.result($0.content, decoder)) }
      results.withLock { $0[part] = decoded }
    }
    return results.withLock { $0.flatMap { $0 } }
  }

  private static func result(
    _ content: Result<[UInt8], RawRecordError>, _ decoder: RecordDecoder
  ) -> Result<SeedRecord, Refusal> {
    switch content {
    case .failure(let error): return .failure(Refusal(problem: error.description))
    case .success(let bytes):
      do throws(RecordError) {
        return .success(try decoder.decode(bytes))
      } catch {
        let subject = decoder.subject(of: bytes).map { $0 + ": " } ?? ""
        return .failure(Refusal(problem: subject + error.description))
      }
    }
  }
}

extension Seeder {
  /// The settings that an operator can change: limits of batches and of inputs.
  package static let numbers: [SettableNumber<Self>] = [
    .init(
      "batch-records", 1...1_000_000, \.batchRecords,
      "Number of records of a seed or an import in one transaction."),
    .init(
      "record-limit-bytes", 1...Most.gibibyte, \.recordLimitBytes,
      "Maximum length of a record; a longer one is refused."),
    .init(
      "document-limit-bytes", 1...Most.gibibyte, \.documentLimitBytes,
      "Maximum length of a JSON document of another format that is read as a whole."),
    .init(
      "decompressed-bytes", 1...(1 << 50), \.decompressedLimitBytes,
      "Maximum length of a compressed input after decompression."),
  ]
}

/// Writes batches on a thread of its own, one at a time: a new batch waits for the previous one.
private final class BatchWriter: Sendable {
  private let run: any FeedImport
  private let thread = WorkerPool(threads: 1, limit: 1)
  private let failure = Mutex<(any Error)?>(nil)

  init(_ run: any FeedImport) {
    self.run = run
  }

  /// Begins to write the records.
  ///
  /// - Throws: the error of the previous batch.
  func write(_ records: [SeedRecord]) throws {
    try wait()
    guard !records.isEmpty else { return }
    let work: WorkerPool.Work = { [self] in
      do {
        try run.write(records)
      } catch {
        failure.withLock { $0 = error }
      }
    }
    // If the system has no thread for it, this thread does the work.
    if !thread.run(work) { work() }
  }

  func wait() throws {
    thread.wait()
    if let error = failure.withLock({ $0 }) { throw error }
  }

  func finish() throws -> ImportSummary {
    try wait()
    return try run.finish()
  }
}
