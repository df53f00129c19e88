import Feed
import Foundation
import GRDB
import Seeding
import TestSupport
import Testing

@testable import SQLiteStore

@Suite struct VacuumTests {
  @Test func `unused pages are given back beside a store that goes on`() throws {
    let folder = TemporaryFolder()
    let store = try SQLiteStore(path: folder.file("feed.sqlite"))
    try store.load(Array(PostGenerator(count: 1_200, seed: 2)))
    let ids = try store.walk("newest", limit: 100)
    for id in ids.dropFirst(100) { _ = try store.deletePost(withID: id) }
    let vacuum = Vacuum(path: store.path)
    let room = try vacuum.room()
    #expect(room.fileBytes > 2 * room.usedBytes)
    #expect(room.neededBytes > 2 * room.usedBytes && room.freeBytes > 0)
    let bytes = try vacuum.run()
    #expect(bytes < room.fileBytes / 2)
    #expect(try vacuum.room().fileBytes == bytes)
    // The posts' numbers are what the store has in memory.
    #expect(try store.walk("newest", limit: 100) == Array(ids.prefix(100)))
    try store.load([.ranked("new", 1)])
    #expect(try store.check().isEmpty)
    try store.close()
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy {
        $0.hasPrefix("feed.sqlite")
      })
  }
}
