import Feed
import Foundation
import SQLiteStore
import TestSupport
import Testing

/// What a service has answered survives its end.
@Suite struct DurableWriteTests {
  @Test func `what was answered is in the file`() throws {
    let service = try RunningService { $0.application.writeTokens = .only(RunningService.token) }
    let client = try service.client()
    for number in 0..<20 {
      let answer = try client.request(
        "PUT", "/v1/items/i\(number)", RunningService.authorized,
        body: #"{"type":"image","feeds":[{"name":"newest"}]}"#)
      #expect(answer.status == 201)
      // What another process sees, or this one after it was killed.
      let copy = TemporaryFolder()
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(
          atPath: service.databasePath + suffix, toPath: copy.file("feed.sqlite" + suffix))
      }
      let store = try SQLiteStore(path: copy.file("feed.sqlite"))
      #expect(try store.walk("newest").count == number + 1)
      try store.close()
    }
  }
}
