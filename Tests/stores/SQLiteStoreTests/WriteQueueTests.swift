import Dispatch
import Catalog
import Feed
import SQLiteStore
import TestSupport
import Testing

@Suite struct WriteQueueTests {
  let folder = TemporaryFolder()

  @Test func `a store that is let go still makes the writes that it took`() throws {
    let path = folder.file("other.sqlite")
    let group = DispatchGroup()
    do {
      let other = try SQLiteStore(path: path)
      let hold = WriterHold(other)
      for number in 0..<5 {
        group.enter()
        let post = Post(id: "x\(number)", type: .text)
        other.write(ItemWrite(id: post.id, change: .put(post, placements: []))) { _ in
          group.leave()
        }
      }
      hold.end()
    }
    group.wait()
    let again = try SQLiteStore(path: path)
    #expect(try (0..<5).allSatisfy { try again.post(withID: "x\($0)") != nil })
  }
}
