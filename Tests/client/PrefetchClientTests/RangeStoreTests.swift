import Foundation
import PrefetchClient
import Synchronization
import TestSupport
import Testing

struct RangeStoreTests {
  private static let url = URL(string: "http://server.test/clip.mp4")!

  /// Patient with nothing: the tests' server answers at once.
  static var limits: RangeStoreLimits {
    var limits = RangeStoreLimits()
    (limits.retryMilliseconds, limits.longestRetryMilliseconds) = (0, 0)
    limits.requestBytes = 100_000
    limits.joinBytes = 30_000
    limits.readBytes = 40_000
    return limits
  }

  /// How many reads of each kind ended how.
  final class Tally: Sendable {
    private let counts = Mutex<[String: Int]>([:])
    func add(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }
    subscript(name: String) -> Int { counts.withLock { $0[name] ?? 0 } }
    var text: String {
      counts.withLock { $0.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } }
        .joined(separator: ", ")
    }
  }

  /// One read, as players do: a range, a probe, all until stopped, or the tail. What comes must be bytes of one
  /// version of the file, from where they were asked for on.
  static func read(
    _ store: RangeStore, _ url: URL, _ server: WildServer, _ random: inout TestRandom,
    _ tally: Tally
  ) async {
    let start: Int
    var (end, stopAt): (Int?, Int) = (nil, .max)
    switch random.number(0...9) {
    case 0: (start, end) = (0, 2)
    case 1: (start, stopAt) = (0, random.number(1...200_000))
    case 2: start = random.number(280_000...310_000)
    case 3: (start, end) = (400_000, 400_010)
    default:
      start = random.number(0...299_999)
      end = start + random.number(1...60_000)
    }
    var read: [UInt8] = []
    do throws(RangeStoreError) {
      var bytes = store.bytes(of: url, from: start, to: end).makeAsyncIterator()
      var isWhole = false
      while read.count < stopAt {
        guard let next = try await bytes.next() else {
          isWhole = true
          break
        }
        #expect(!next.isEmpty)
        read += next
      }
      tally.add(isWhole ? "whole" : "stopped")
      let isOfOne = server.versions.contains { file in
        let wanted = file[min(start, file.count)..<min(end ?? .max, file.count)]
        return Array(isWhole ? wanted : wanted.prefix(read.count)) == read
      }
      #expect(isOfOne, "\(read.count) bytes from \(start) to \(end ?? -1) are of no version")
    } catch {
      tally.add(error.kind)
      // What had come before was right, too.
      #expect(
        read.isEmpty
          || server.versions.contains { Array($0.dropFirst(start).prefix(read.count)) == read })
    }
  }

  @Test(arguments: TestRandom.seeds)
  func
    `random reads by eight readers of a server that does all it should not are right or an error`(
      seed: UInt64
    ) async throws
  {
    let server = WildServer(seed: seed)
    let folder = TemporaryFolder()
    let tally = Tally()
    let reads = TestRandom.often(25, nightly: 125)
    // A store that is opened anew ten times, by turns whole and with an index that was torn; a store in
    // memory, and one that has hardly room for anything.
    for round in 0..<10 {
      let transport = MemoryTransport(server: server)
      var limits = Self.limits
      if round == 9 { limits.bytes = 50_000 }
      let store =
        round < 8
        ? try await opened(folder.path, transport)
        : RangeStore(transport: transport, limits: limits)
      await withTaskGroup { group in
        for reader in 0..<8 {
          group.addTask {
            var random = TestRandom(seed &+ UInt64(round * 8 + reader + 1))
            for _ in 0..<reads {
              if random.once(in: 10) { await fetch(store, &random) }
              if random.once(in: 5) {
                let start = random.number(0...299_999)
                await store.discard(start..<start + random.number(1...200_000), of: Self.url)
              }
              await Self.read(store, Self.url, server, &random, tally)
            }
          }
        }
      }
      let usage = await store.usage
      #expect(usage.files <= 1 && usage.bytes <= limits.bytes)
      if round % 2 == 0 { try tear(folder.path, TestRandom(seed &+ UInt64(round))) }
    }
    print("range store, seed \(seed): \(server.requests) requests; \(tally.text)")
    #expect(tally["whole"] > 24 * reads, TestRandom.replay)
  }

  private func fetch(_ store: RangeStore, _ random: inout TestRandom) async {
    let start = random.number(0...299_999)
    let end = random.once(in: 3) ? nil : start + random.number(1...200_000)
    let task = Task {
      try? await store.fetch(Self.url, from: start, to: end, priority: .ahead)
    }
    if random.once(in: 2) {
      for _ in 0..<random.number(0...20) { await Task.yield() }
      task.cancel()
    }
    await task.value
  }

  /// A store of the folder as soon as the last one has let go of it.
  private func opened(_ folder: String, _ transport: any Transport) async throws -> RangeStore {
    for _ in 0..<24_000 {
      do throws(RangeStoreError) {
        return try RangeStore(
          folder: URL(fileURLWithPath: folder), transport: transport, limits: Self.limits)
      } catch .folderInUse {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
    throw RangeStoreError.folderInUse(folder)
  }

  /// Cuts every index off somewhere, as a machine does that loses its power.
  private func tear(_ folder: String, _ seed: TestRandom) throws {
    var random = seed
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where name.hasSuffix(".index") {
      let handle = try #require(FileHandle(forUpdatingAtPath: folder + "/" + name))
      let size = Int(try handle.seekToEnd())
      try handle.truncate(atOffset: UInt64(random.number(0...size)))
      try handle.close()
    }
  }
}

extension RangeStoreError {
  /// Its case alone.
  var kind: String { String("\(self)".prefix { $0 != "(" }) }
}
