import Foundation
import Glibc
import PostJSON
import Prefetch
import PrefetchClient
import TestSupport
import Testing
import Viewing

/// `lookahead browse --store --record`, killed in the middle of writing, and run again.
@Suite struct BrowseKillTests {
  let program = Program()

  private static let fixtures = Repository.url("Fixtures")

  /// The files that a record speaks of, as far as it goes.
  private func keys() throws -> Set<String> {
    let path = program.folder.file("session.ndjson")
    guard let bytes = FileManager.default.contents(atPath: path), bytes.contains(0x0a) else {
      return []
    }
    var keys: Set<String> = []
    for event in try SessionLog(Array(bytes)).events {
      guard case .pageArrived(_, let items, _, _) = event.event else { continue }
      keys.formUnion(items.flatMap(\.media).flatMap(\.files).map(\.key))
    }
    return keys
  }

  /// How many bytes of these files the folder holds; each of them is held against the file itself. The folder is
  /// free again when this returns.
  private func heldBytes(_ keys: Set<String>) async throws -> Int {
    var store: RangeStore? = try RangeStore(
      folder: URL(fileURLWithPath: program.folder.file("kept")), transport: SocketTransport())
    weak let open = store
    let count = try await held(try #require(store), keys)
    store = nil
    try await eventuallyAsync { open == nil }
    return count
  }

  private func held(_ store: RangeStore, _ keys: Set<String>) async throws -> Int {
    var count = 0
    for key in keys {
      let url = try #require(URL(string: key))
      let name = url.path(percentEncoded: false).replacing("/media/", with: "")
      let file = try Data(
        contentsOf: Self.fixtures.appendingPathComponent("media").appendingPathComponent(name))
      for range in await store.held(of: url).ranges {
        var read: [UInt8] = []
        for try await bytes in store.bytes(of: url, from: range.lowerBound, to: range.upperBound) {
          read += bytes
        }
        #expect(read.elementsEqual(file[range]), "\(name) \(range)")
        count += range.count
      }
    }
    return count
  }

  @Test(arguments: TestRandom.seeds)
  func `a store whose program is killed holds no wrong byte, and goes on`(seed: UInt64) async throws
  {
    let fixtures = Self.fixtures.path
    try #require(try program.run("seed", fixtures + "/featured.ndjson").status == 0)
    let server = try ServingProgram(program, ["--media-root", fixtures + "/media"])
    let arguments = [
      "browse", "http://127.0.0.1:\(server.port)", "--feed", "featured", "--items", "40",
      "--pace", "400ms", "--speed", "10", "--store", "kept", "--strategy", "plain:leading=4",
      "--record", "session.ndjson",
    ]
    var random = TestRandom(seed)
    var (known, most): (Set<String>, Int) = ([], 0)
    for _ in 0..<5 {
      let process = program.process(arguments)
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      usleep(UInt32(random.number(50...900)) * 1_000)
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
      known.formUnion(try keys())
      guard !known.isEmpty else { continue }
      let held = try await heldBytes(known)
      #expect(held >= most / 2, "what was on the disk is still there")
      most = max(most, held)
    }
    let last = try program.run(arguments)
    #expect(last.status == 0, "\(last.errors)")
    known.formUnion(try keys())
    #expect(try await heldBytes(known) > 100_000)
  }
}
