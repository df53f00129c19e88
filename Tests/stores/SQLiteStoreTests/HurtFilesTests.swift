import Catalog
import Feed
import Foundation
import Synchronization
import SQLiteTestSupport
import TestSupport
import Testing

@testable import SQLiteStore

/// What becomes of a database whose file, WAL or index is cut off, written over or grown while it is open: no
/// write is answered that nobody finds again, and what was there before is there after the next start.
@Suite struct HurtFilesTests {
  let folder = TemporaryFolder()
  var path: String { folder.file("feed.sqlite") }

  struct Hurt: Sendable, CustomTestStringConvertible {
    let file: String
    let what: String
    /// The write that comes then is refused; else it is kept.
    var isRefused = true
    /// How large it is afterwards, of how many bytes.
    var size: (@Sendable (Int) -> Int)?
    /// From where to where it is written over.
    var range: (@Sendable (Int) -> Range<Int>)?

    var testDescription: String { "\(file) \(what)" }

    func happen(to path: String) throws {
      let file = path + file
      let bytes = try #require(
        try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int)
      if let size { #expect(truncate(file, off_t(size(bytes))) == 0) }
      guard let range = range?(bytes) else { return }
      let handle = try #require(FileHandle(forWritingAtPath: file))
      try handle.seek(toOffset: UInt64(range.lowerBound))
      try handle.write(contentsOf: Data(repeating: 0xa5, count: range.count))
      try handle.close()
    }
  }

  @Test(arguments: ["", "-wal"])
  func `a file that cannot be read for a while is not taken for one that is hurt`(
    file: String
  ) throws {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("a", 1)])
    try store.increment("a")
    // The database's header is looked at where the file is another one by its times.
    #expect(utimes(path, nil) == 0)
    RefusedCalls.refuse(.reads, of: path + file, with: EIO)
    defer { RefusedCalls.refuse(.reads, of: path + file, with: nil) }
    let error = #expect(throws: StoreError.self) { try store.increment("a") }
    #expect(error?.kind == .other)
    RefusedCalls.refuse(.reads, of: path + file, with: nil)
    try store.increment("a")
    let counted = try #require(try store.post(withID: "a")?.counters.first?.value)
    #expect(counted == 2 || counted == 3)
    try store.close()
    #expect(try SQLiteStore(path: path).post(withID: "a")?.counters.first?.value == counted)
  }

  private static let hurts = [
    Hurt(file: "-wal", what: "emptied", size: { _ in 0 }),
    Hurt(file: "-wal", what: "cut to its head", size: { _ in 32 }),
    Hurt(file: "-wal", what: "cut in its middle", size: { $0 / 2 }),
    Hurt(file: "-wal", what: "cut by a byte", size: { $0 - 1 }),
    Hurt(file: "-wal", what: "emptied and as large again", size: { $0 }, range: { 0..<$0 }),
    Hurt(file: "-wal", what: "with another head", range: { _ in 0..<32 }),
    Hurt(file: "-wal", what: "with another end", range: { $0 - 4_120..<$0 }),
    Hurt(file: "-wal", what: "grown", isRefused: false, size: { $0 + 70_000 }),
    Hurt(file: "-shm", what: "emptied", size: { _ in 0 }),
    Hurt(file: "-shm", what: "cut to a page", size: { _ in 4_096 }),
    Hurt(file: "-shm", what: "cut by a byte", size: { $0 - 1 }),
    Hurt(file: "-shm", what: "with other numbers of pages", range: { _ in 136..<16_384 }),
    // SQLite makes it anew.
    Hurt(file: "-shm", what: "with another head", isRefused: false, range: { _ in 0..<96 }),
    Hurt(file: "-shm", what: "grown", isRefused: false, size: { $0 + 70_000 }),
    Hurt(file: "", what: "cut to a page", size: { _ in 4_096 }),
    Hurt(file: "", what: "cut by a byte", size: { $0 - 1 }),
    Hurt(file: "", what: "with another head", range: { _ in 0..<100 }),
    Hurt(file: "", what: "grown", isRefused: false, size: { $0 + 70_000 }),
  ]

  /// The database as the next process finds it: this one still has it open, and so its locks and its index.
  private func restarted(_ name: String) throws -> SQLiteStore {
    let copy = folder.file(name)
    for ending in ["", "-wal"] where FileManager.default.fileExists(atPath: path + ending) {
      try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
    }
    return try SQLiteStore(path: copy)
  }

  private func put(
    _ id: String, to store: SQLiteStore, if condition: ItemWrite.Condition? = nil
  ) throws {
    _ = try store.outcome(
      of: ItemWrite(
        id: id, change: .put(Post(id: id, type: .text), placements: [Placement(feed: "featured")]),
        condition: condition))
  }

  private static let tried = TestRandom.some(6, of: Array(hurts.indices))

  /// A database with a post in its file, and one in its WAL alone.
  private func opened() throws -> SQLiteStore {
    let store = try SQLiteStore(path: path)
    try store.load([.ranked("base", 1)])
    #expect(try store.pool.cutLog(waiting: 1_000))
    try put("logged", to: store)
    #expect(try store.walk("featured").count == 2)
    return store
  }

  @Test(arguments: tried, [false, true])
  func `a write before or within which a file is hurt is refused, or kept`(
    _ index: Int, _ isWithin: Bool
  ) throws {
    let hurt = Self.hurts[index]
    let store = try opened()
    let path = path
    if !isWithin { try hurt.happen(to: path) }
    var isAnswered = false
    do {
      try put("new", to: store) { _ in if isWithin { try hurt.happen(to: path) } }
      isAnswered = true
    } catch let error as StoreError {
      #expect(error.kind == .unavailable, "\(error)")
    }
    #expect(isAnswered != hurt.isRefused)
    if hurt.isRefused {
      #expect(throws: StoreError.self) { try put("later", to: store) }
      #expect(throws: StoreError.self) { try store.refresh() }
    } else {
      #expect(try store.item(withID: "new") != nil)
    }
    try? store.close()
    guard !hurt.file.isEmpty || !hurt.isRefused else { return }
    let next = try restarted("next.sqlite")
    #expect(try next.check().isEmpty)
    #expect(try next.item(withID: "base") != nil)
    if isAnswered { #expect(try next.item(withID: "new") != nil) }
    if hurt.file != "-wal" { #expect(try next.item(withID: "logged") != nil) }
  }

  @Test(arguments: tried)
  func `a file that is hurt before the end leaves a database`(_ index: Int) throws {
    let hurt = Self.hurts[index]
    let store = try opened()
    try hurt.happen(to: path)
    // What is another database's file is told by whoever looks, and not by closing.
    if hurt.isRefused, !(hurt.file.isEmpty && hurt.what == "with another head") {
      #expect(throws: StoreError.self) { try store.close() }
    } else {
      try store.close()
    }
    guard !hurt.file.isEmpty || !hurt.isRefused else { return }
    let next = try restarted("next.sqlite")
    #expect(try next.check().isEmpty)
    #expect(try next.item(withID: "base") != nil)
    if hurt.file != "-wal" || !hurt.isRefused {
      #expect(try next.item(withID: "logged") != nil)
    }
  }

  /// Neither end of the WAL tells, and SQLite does not look: it is read before it is brought in.
  @Test(arguments: [false, true])
  func `a WAL that is written over in its middle is not brought into the database`(_ isLast: Bool)
    throws
  {
    let store = try opened()
    for index in 0..<20 { try put("p\(index)", to: store) }
    let hurt = Hurt(file: "-wal", what: "", range: { $0 / 2..<$0 / 2 + 100 })
    try hurt.happen(to: path)
    if isLast {
      #expect(throws: StoreError.hurt(path: path + "-wal")) { try store.close() }
    } else {
      #expect(throws: StoreError.hurt(path: path + "-wal")) { try store.pool.cutLog(waiting: 10) }
      #expect(throws: StoreError.hurt(path: path + "-wal")) { try put("later", to: store) }
      try store.close()
    }
    let next = try restarted("next.sqlite")
    #expect(try next.check().isEmpty)
    #expect(try next.item(withID: "base") != nil && next.item(withID: "logged") != nil)
  }
}
