import Catalog
import Feed
import Glibc
import SQLiteTestSupport
import TestSupport
import Testing

@testable import SQLiteStore

/// What a store says where the system refuses to write one of its files, and that it goes on afterwards.
@Suite struct FullDiskTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  @Test(arguments: [(ENOSPC, StoreFailureKind.full), (EDQUOT, .full), (EIO, .other)])
  func `a write that has no room is full, whether a disk or a quota ends there`(
    errno: CInt, kind: StoreFailureKind
  ) throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    RefusedCalls.refuse(of: path + "-wal", with: errno)
    defer { RefusedCalls.refuse(of: path + "-wal", with: nil) }
    let error = #expect(throws: StoreError.self) { try store.increment("a") }
    #expect(error?.kind == kind)
    let batch = #expect(throws: StoreError.self) { try store.load([.ranked("b", 2)]) }
    #expect(batch?.kind == kind)
    RefusedCalls.refuse(of: path + "-wal", with: nil)
    try store.increment("a")
    #expect(try store.post(withID: "a")?.counters == [Counter("likes", 1)])
    #expect(try store.post(withID: "b") == nil)
  }

  @Test(arguments: [ENOSPC, EDQUOT], ["", "-wal", "-shm"])
  func `a database that cannot be begun for lack of room is told so`(
    errno: CInt, file: String
  ) throws {
    RefusedCalls.refuse(of: path + file, with: errno)
    defer { RefusedCalls.refuse(of: path + file, with: nil) }
    #expect(throws: StoreError.full(path: path)) { try SQLiteStore(path: path) }
    RefusedCalls.refuse(of: path + file, with: nil)
    try SQLiteStore(path: path).load([.ranked("a", 1)])
  }

  @Test func `a copy says of the disk that it is written to that it is full`() throws {
    try SQLiteStore(path: path).load([.ranked("a", 1)])
    let target = folder.file("copy.sqlite")
    RefusedCalls.refuse(of: target, with: EDQUOT)
    defer { RefusedCalls.refuse(of: target, with: nil) }
    #expect(throws: StoreError.full(path: target)) {
      try DatabaseCopy(of: path, at: target).make()
    }
  }
}
