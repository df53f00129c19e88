import Catalog
import Feed
import Glibc
import GRDB
import GRDBSQLite
import Synchronization
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
    RefusedWrites.refuse(path + "-wal", with: errno)
    defer { RefusedWrites.refuse(path + "-wal", with: nil) }
    let error = #expect(throws: StoreError.self) { try store.increment("a") }
    #expect(error?.kind == kind)
    let batch = #expect(throws: StoreError.self) { try store.load([.ranked("b", 2)]) }
    #expect(batch?.kind == kind)
    RefusedWrites.refuse(path + "-wal", with: nil)
    try store.increment("a")
    #expect(try store.post(withID: "a")?.counters == [Counter("likes", 1)])
    #expect(try store.post(withID: "b") == nil)
  }

  @Test(arguments: [ENOSPC, EDQUOT], ["", "-wal", "-shm"])
  func `a database that cannot be begun for lack of room is told so`(
    errno: CInt, file: String
  ) throws {
    RefusedWrites.refuse(path + file, with: errno)
    defer { RefusedWrites.refuse(path + file, with: nil) }
    #expect(throws: StoreError.full(path: path)) { try SQLiteStore(path: path) }
    RefusedWrites.refuse(path + file, with: nil)
    try SQLiteStore(path: path).load([.ranked("a", 1)])
  }

  @Test func `a copy says of the disk that it is written to that it is full`() throws {
    try SQLiteStore(path: path).load([.ranked("a", 1)])
    let target = folder.file("copy.sqlite")
    RefusedWrites.refuse(target, with: EDQUOT)
    defer { RefusedWrites.refuse(target, with: nil) }
    #expect(throws: StoreError.full(path: target)) {
      try DatabaseCopy(of: path, at: target).make()
    }
  }
}

/// Refuses what SQLite writes to files of given paths, below everything of ours: in the table of system calls
/// that SQLite has for that (https://sqlite.org/c3ref/vfs.html).
private enum RefusedWrites {
  private static let reasons = Mutex<[String: CInt]>([:])

  private typealias Write = @convention(c) (CInt, UnsafeRawPointer?, Int, off_t) -> Int

  private static let isInstalled: Bool = {
    guard let system = sqlite3_vfs_find("unix") else { return false }
    let write: Write = { descriptor, bytes, count, offset in
      if let reason = RefusedWrites.reason(of: descriptor) {
        errno = reason
        return -1
      }
      return pwrite(descriptor, bytes, count, offset)
    }
    let call = unsafeBitCast(write, to: sqlite3_syscall_ptr.self)
    // Which of the two it calls depends on how it was built.
    let results = ["pwrite", "pwrite64"].map { (name: String) in
      system.pointee.xSetSystemCall(system, name, call)
    }
    return results.contains(SQLITE_OK)
  }()

  /// From now on; `nil`: no longer.
  static func refuse(_ path: String, with errno: CInt?) {
    precondition(isInstalled, "SQLite does not write with pwrite(2)")
    reasons.withLock { $0[path] = errno }
  }

  private static func reason(of descriptor: CInt) -> CInt? {
    guard reasons.withLock({ !$0.isEmpty }) else { return nil }
    var path = [UInt8](repeating: 0, count: Int(PATH_MAX))
    let count = path.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: CChar.self) { buffer in
        readlink("/proc/self/fd/\(descriptor)", buffer.baseAddress!, buffer.count)
      }
    }
    guard count > 0 else { return nil }
    let name = String(decoding: path.prefix(count), as: UTF8.self)
    return reasons.withLock { $0[name] }
  }
}
