import Feed
import ModelStore
import Seeding
import Synchronization
import Testing

/// Inputs that come slowly.
struct StreamTests {
  private static func line(_ number: Int) -> [UInt8] {
    Array("{\"id\":\"p\(number)\",\"type\":\"text\",\"feeds\":[{\"name\":\"f\"}]}\n".utf8)
  }

  @Test func `records that are said to be such are written as they come`() throws {
    let store = ModelStore()
    let state = Mutex((next: 0, isWritten: false))
    let input = SeedInput(name: "in") {
      try state.withLock { state in
        // Twenty have come: the first ten were written before the next ten were handed over.
        if state.next == 20 { state.isWritten = try store.item(withID: "p9") != nil }
        guard state.next < 25 else { return nil }
        state.next += 1
        return Self.line(state.next - 1)
      }
    }
    var seeder = Seeder(batchRecords: 10)
    seeder.format = .records
    let report = try seeder.run(
      [input], into: store, onProblem: { Issue.record("\($0)") }, onProgress: { _ in })
    #expect(report.summary.added == 25)
    #expect(state.withLock { $0.isWritten })
  }
}
