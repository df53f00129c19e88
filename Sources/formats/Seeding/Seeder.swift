// `Seeder` first looks at all inputs (`InspectedInput`): what each is compressed with
// (`Decompression`) and written in (`FeedFormat.guess`, by its first 16 KiB); one that cannot be
// read stops the run before anything is loaded. Then each goes through its `RecordReader`, bytes
// in and records out. Whatever the format, what comes out is the JSON of our own records, so that
// there is one way from there: `RecordDecoder` on all cores, with the same limits and the same
// words for what is wrong, and batches to the store. A reader of another format is a translation
// (`MastodonStatus`, `RSSItem`, `CSVPost` …) around a splitter: `JSONReader` holds one JSON value,
// `XMLFeedReader` one item, `CSVReader` one row. What a format has and records do not is counted
// (`Omission`), never lost in silence.
//
// A sample of each is in `Fixtures/formats`, what comes of it in
// `Tests/formats/FeedFormatsTests/Expected`.
//
// `RecordSplitter` cuts the input into records, `RecordDecoder` reads them on all cores, while
// `FeedImport` writes the batch before; one batch is one transaction, and two are in memory at the
// most. Within a batch (`ImportBatch`) moves are applied before new entries, so that a new entry
// knows whether its run ranks the feed again: then it waits for the end, too. A run into a database
// without posts makes those indexes last of which each post would change another page
// (`LateIndexes`); only time depends on them, and if the run was killed, the next process that
// opens the database makes them.

import Catalog
import Feed
import FeedFormats
import PostJSON
import Foundation
import Synchronization
import System

/// A record that was not taken.
package struct SeedProblem: Hashable, Sendable, CustomStringConvertible {
  /// The name of the `SeedInput`.
  package let input: String
  /// The line on which the record begins, from 1.
  package let line: Int
  /// What is wrong, with the field where one is to blame, and what the record calls itself where that can
  /// be told: `post "p1": tags[3]: is not a text`.
  package let problem: String

  /// `file:line: what is wrong`
  package var description: String { "\(input):\(line): \(problem)" }
}

/// How far a run has come.
package struct SeedProgress: Hashable, Sendable {
  /// Good records that were handed to the store.
  package var records = 0
  /// Bad records that were left out.
  package var skipped = 0

  /// Of a run that has not begun.
  package init() {}
}

/// What a run did.
package struct SeedReport: Sendable {
  /// What the store made of the good records.
  package let summary: ImportSummary
  /// How many bad records were left out.
  package var skipped = 0
  /// How many posts were loaded whose records name no feed, where no other was named for them.
  package var withoutFeed = 0
  /// What other formats had that records have no field for.
  package var omissions = Omissions()
}

/// A run that should stop at the first bad record met one.
///
/// The records before it are in the store; a feed that the run ranked again shows its old order until a run is
/// finished.
package struct SeedStopped: Error {
  /// What stopped it.
  package let problem: SeedProblem
}

/// Loads records into a store.
///
/// Theory of operation. One batch is cut from the input and decoded on all cores while the batch before
/// it is written, and no more than that is ever in memory. A batch is one transaction. Bad records are
/// reported and left out; the good ones around them are written.
package struct Seeder: Sendable {
  /// The number of records in a transaction.
  package var batchRecords: Int
  /// A smaller batch ends at this many bytes: the memory of a run is bounded, however large its records
  /// are.
  package var batchBytes: Int
  /// The maximum bytes of a record.
  package var recordLimitBytes: Int
  /// The maximum bytes of a JSON document of another format, which is read as a whole.
  package var documentLimitBytes = FormatSettings.defaultDocumentLimitBytes
  /// The maximum bytes that a compressed input may expand to.
  package var decompressedLimitBytes = 64 << 30
  /// Stops at the first bad record.
  package var isStrict: Bool
  /// What inputs are written in; nil where each says so itself.
  package var format: FeedFormat?
  /// Which column of a CSV, or value of a JSON object, is what.
  package var columns: [ColumnMapping] = []
  /// The zone of times that name none.
  package var timeZone = LocalTimeZone.utc
  /// The feed of posts whose records name none.
  package var feed: String?

  /// The default of `batchRecords`.
  package static let defaultBatchRecords = 2_000
  /// The default of `batchBytes`.
  package static let defaultBatchBytes = 8 << 20
  /// The default of `recordLimitBytes`.
  package static let defaultRecordLimitBytes = 1 << 20

  /// A seeder with these limits, both above 0; it is lenient unless told otherwise.
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

  /// Looks at inputs: whether each can be read, and what it is written in.
  ///
  /// - Throws: `SeedInputError`, and what reading another source than a file throws.
  package func inspect(_ inputs: [SeedInput]) throws -> [InspectedInput] {
    try inputs.map { try InspectedInput($0, said: format, columns: columns) }
  }

  /// Looks at all inputs and loads them.
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
  /// - Throws: `SeedInputError`, `SeedStopped`, and what the store throws. Batches that were written
  ///   before stay.
  package func run(
    _ inputs: [InspectedInput], into store: some FeedStore,
    onProblem: (SeedProblem) -> Void, onProgress: (SeedProgress) -> Void
  ) throws -> SeedReport {
    let writer = BatchWriter(try store.beginImport())
    // Whatever ends the run, no write continues behind it.
    defer { try? writer.wait() }
    var run = Run()
    for input in inputs {
      // Of several documents the first one gives the feed its title: else each would take it from the other.
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

  /// What a run has come to so far.
  private struct Run {
    var progress = SeedProgress()
    var withoutFeed = 0
    var omissions = Omissions()
    /// A document of another format has given the feed its title.
    var isTitled = false
  }

  private func settings(titlesFeed: Bool) -> FormatSettings {
    var settings = FormatSettings(
      recordLimitBytes: recordLimitBytes, documentLimitBytes: documentLimitBytes, columns: columns,
      feed: feed, titlesFeed: titlesFeed)
    settings.timeZone = timeZone
    return settings
  }

  /// Loads records that are at hand as such.
  ///
  /// - Throws: what the store throws.
  package func run(
    _ records: some Sequence<SeedRecord>, into store: some FeedStore,
    onProgress: (SeedProgress) -> Void
  ) throws -> SeedReport {
    let writer = BatchWriter(try store.beginImport())
    // Whatever ends the run, no write continues behind it.
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

  /// Why a record was not taken, with what it calls itself.
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

  /// A post whose record names no feed is in the one that was named for such.
  private func placed(_ record: SeedRecord, _ run: inout Run) -> SeedRecord {
    guard case .post(let post, let placements) = record, placements.isEmpty else { return record }
    if let feed { return .post(post, placements: [Placement(feed: feed)]) }
    run.withoutFeed += 1
    return record
  }

  /// Decodes on every core.
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
  /// What an operator can set: what is loaded at once, and kept of what was.
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

/// Writes batches on a thread of its own, one at a time: passing on the next waits for the last.
private final class BatchWriter: Sendable {
  private let run: any FeedImport
  private let thread = WorkerPool(threads: 1, limit: 1)
  private let failure = Mutex<(any Error)?>(nil)

  init(_ run: any FeedImport) {
    self.run = run
  }

  /// Begins to write the records.
  ///
  /// - Throws: what the batch before could not be written for.
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
    // Where the system has no thread for it, it takes longer.
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
