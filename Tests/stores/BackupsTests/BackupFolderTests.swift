import Foundation
import Glibc
import SQLiteStore
import TestSupport
import Testing

@testable import Backups

@Suite struct BackupFolderTests {
  let folder = TemporaryFolder()
  /// 2026-11-21T08:37:00Z
  private static let now = 1_795_250_220

  private func makeDatabase() throws -> String {
    let path = folder.file("feed.sqlite")
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    try store.close()
    return path
  }

  private func names(_ path: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path).sorted()
  }

  @Test func `the newest are kept, whatever the clock says`() throws {
    let database = try makeDatabase()
    let path = folder.file("backups")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let series = BackupFolder(path: path, database: database)
    // The clock is set back by a year after the second one.
    for (index, time) in [0, 60, 60 - 31_536_000, 120 - 31_536_000].enumerated() {
      _ = try series.add(
        Backup(of: database, compress: index % 2 == 1), secondsSince1970: Self.now + time,
        keeping: 3)
    }
    #expect(
      try names(path) == [
        "feed-000002-20261121T083800Z.sqlite.gz", "feed-000003-20251121T083800Z.sqlite",
        "feed-000004-20251121T083900Z.sqlite.gz",
      ])
  }

  @Test func `only files of the series go, and what killed programs left of it`() throws {
    let database = try makeDatabase()
    let others = [
      "feed-000001.sqlite", "feed-000001-20261121T083800Z.sqlite.bak", "other-000001-x.partial",
      "feed-more-000001-20261121T083800Z.sqlite", "notes.txt",
    ]
    let path = folder.file("backups")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for name in others { try folder.write("kept", to: "backups/" + name) }
    for stale in [".partial", ".copy.partial", ".copy.partial-journal"] {
      try folder.write("half", to: "backups/feed-000007-20261121T083800Z.sqlite.gz" + stale)
    }
    let series = BackupFolder(path: path, database: database)
    for _ in 0..<3 {
      _ = try series.add(Backup(of: database), secondsSince1970: Self.now, keeping: 1)
    }
    #expect(
      try names(path) == (others + ["feed-000003-20261121T083700Z.sqlite"]).sorted())
  }

  @Test func `a failure leaves the older backups`() throws {
    let database = try makeDatabase()
    let path = folder.file("backups")
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let series = BackupFolder(path: path, database: database)
    _ = try series.add(Backup(of: database), secondsSince1970: Self.now, keeping: 1)
    let before = try names(path)
    unlink(database)
    #expect(throws: StoreError.missing(path: database)) {
      try series.add(Backup(of: database), secondsSince1970: Self.now + 9, keeping: 1)
    }
    #expect(try names(path) == before)
  }

  @Test func `a name is read as it was written, and no other`() {
    let name = BackupName(
      series: "feed", number: 42, secondsSince1970: Self.now, isCompressed: true)
    #expect(name.text == "feed-000042-20261121T083700Z.sqlite.gz")
    #expect(BackupName(name.text, series: "feed") == name)
    let late = BackupName(
      series: "a-b", number: 1_234_567, secondsSince1970: 0, isCompressed: false)
    #expect(late.text == "a-b-1234567-19700101T000000Z.sqlite")
    #expect(BackupName(late.text, series: "a-b") == late)
    for text in [
      "feed-42-20261121T083700Z.sqlite", "feed-000042-20261121T083700Z.sqlite.gz.partial",
      "feed-000042-2026.sqlite", "fee-000042-20261121T083700Z.sqlite", "",
    ] {
      #expect(BackupName(text, series: "feed") == nil, "\(text)")
    }
    for (path, series) in [
      ("/data/lookahead.sqlite", "lookahead"), ("a", "a"), ("./x.y.sqlite", "x.y"), (".db", ".db"),
    ] {
      #expect(BackupName.series(ofDatabase: path) == series)
    }
  }

  @Test func `a backup is due an interval after the newest, and sooner after a failure`() {
    let schedule = BackupSchedule(intervalSeconds: 86_400)
    let cases: [(age: Int?, wait: Int)] = [
      (nil, 0), (0, 86_400), (86_000, 400), (86_400, 0), (1_000_000, 0), (-31_536_000, 0), (-1, 0),
    ]
    for (age, wait) in cases { #expect(schedule.secondsUntilDue(newestAgeSeconds: age) == wait) }
    #expect(schedule.secondsUntilRetry == 3_600)
    #expect(BackupSchedule(intervalSeconds: 5).secondsUntilRetry == 1)
  }
}
