import ArgumentParser
import Service
import Foundation
import SQLiteStore
import Seeding

/// Who may write, and how much.
struct WriteOptions: ParsableArguments {
  private static let defaults = FeedServiceConfiguration(databasePath: "")

  @Option(help: "The token that writers send; without one, writes are off. Others see arguments.")
  var writeToken: String?

  @Option(help: "The file that holds the token.")
  var writeTokenFile: String?

  @Option(help: "The body of a single write; then 413.")
  var bodyBytes = Environment.number(
    "BODY_BYTES", default: defaults.application.server.limits.bodyBytes)

  @Option(help: "The body of an import; then 413.")
  var importBytes = Environment.number("IMPORT_BYTES", default: defaults.application.importBytes)

  @Option(help: "A record of an import may have so many bytes; then it is refused.")
  var recordLimitBytes = Environment.number(
    "RECORD_LIMIT_BYTES", default: Seeder.defaultRecordLimitBytes)

  @Option(help: "So many records of an import make a transaction.")
  var batchRecords = Environment.number("BATCH_RECORDS", default: Seeder.defaultBatchRecords)

  @Option(help: "Imports at once; then 503.")
  var maximumImports = Environment.number(
    "MAXIMUM_IMPORTS", default: defaults.application.maximumImports)

  @Option(help: "Single writes that wait for the database; then 503.")
  var maximumWaitingWrites = Environment.number(
    "MAXIMUM_WAITING_WRITES", default: SQLiteStore.Options.defaultMaximumWaitingWrites)

  @Option(help: "How long an Idempotency-Key is remembered.")
  var idempotencyKeepSeconds = Environment.number(
    "IDEMPOTENCY_KEEP_SECONDS", default: SQLiteStore.Options.defaultIdempotencyKeepSeconds)

  @Option(help: "How many of them are remembered.")
  var maximumIdempotencyKeys = Environment.number(
    "MAXIMUM_IDEMPOTENCY_KEYS", default: SQLiteStore.Options.defaultMaximumIdempotencyKeys)

  @Option(help: "So many rankings of a feed are kept for the cursors that name them.")
  var keptRankings = Environment.number(
    "KEPT_RANKINGS", default: SQLiteStore.Options.defaultKeptRankings)

  @Option(help: "How long a ranking is kept after it was the current one, beyond that number.")
  var keptRankingsSeconds = Environment.number(
    "KEPT_RANKINGS_SECONDS", default: SQLiteStore.Options.defaultKeptRankingsSeconds)

  @Option(help: "Moves of entries that are kept for that, at the most.")
  var maximumKeptMoves = Environment.number(
    "MAXIMUM_KEPT_MOVES", default: SQLiteStore.Options.defaultMaximumKeptMoves)

  mutating func validate() throws {
    if writeToken == nil, writeTokenFile == nil {
      writeToken = Environment.text("WRITE_TOKEN")
      writeTokenFile = Environment.text("WRITE_TOKEN_FILE")
    }
    try Environment.validate()
    if writeToken != nil, writeTokenFile != nil {
      throw ValidationError("--write-token and --write-token-file exclude each other")
    }
  }

  func apply(to configuration: inout FeedServiceConfiguration) throws {
    configuration.application.writeToken = try token()
    configuration.application.server.limits.bodyBytes = bodyBytes
    configuration.store.keptRankings = keptRankings
    configuration.store.keptRankingsSeconds = keptRankingsSeconds
    configuration.store.maximumKeptMoves = maximumKeptMoves
    configuration.application.importBytes = importBytes
    configuration.application.seeder.recordLimitBytes = recordLimitBytes
    configuration.application.seeder.batchRecords = batchRecords
    configuration.application.maximumImports = maximumImports
    configuration.store.maximumWaitingWrites = maximumWaitingWrites
    configuration.store.idempotencyKeepSeconds = idempotencyKeepSeconds
    configuration.store.maximumIdempotencyKeys = maximumIdempotencyKeys
  }

  /// The token: of a file, its text without the white space around it.
  private func token() throws -> String? {
    var text = writeToken
    if let writeTokenFile {
      guard let bytes = FileManager.default.contents(atPath: writeTokenFile) else {
        throw ValidationError("--write-token-file: \(writeTokenFile) cannot be read")
      }
      text = String(decoding: bytes, as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    guard let text else { return nil }
    // RFC 6750 section 2.1: b64token.
    let isToken =
      text.wholeMatch(of: /[A-Za-z0-9._~+\/-]+=*/) != nil
    guard isToken else {
      throw ValidationError(
        "the write token must be of the characters A-Z a-z 0-9 . _ ~ + / - with = at its end only")
    }
    return text
  }
}
