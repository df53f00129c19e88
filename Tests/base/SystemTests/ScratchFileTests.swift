import System
import TestSupport
import Testing

/// Pieces of a scratch file come out as they went in, wherever they lie.
struct ScratchFileTests {
  @Test(arguments: TestRandom.seeds)
  func `pieces are read as they lie in the file, close together or far apart`(seed: UInt64) throws {
    var random = TestRandom(seed)
    let folder = TemporaryFolder()
    let file = try ScratchFile(folder: folder.path)
    let bytes = (0..<200_000).map { _ in UInt8(random.number(0...255)) }
    try file.write(bytes, at: 0)
    for _ in 0..<200 {
      var pieces: [Range<Int>] = []
      var position = random.number(0...1000)
      for _ in 0..<random.number(1...40) {
        let end = position + random.number(1...900)
        if end > bytes.count { break }
        pieces.append(position..<end)
        // Behind the last one, at some distance; now and then anywhere.
        position =
          random.number(0...5) == 0
          ? random.number(0...190_000) : end + random.number(0...2) * random.number(0...5000)
      }
      let wanted = pieces.flatMap { bytes[$0] }
      #expect(try file.read(pieces) == wanted, TestRandom.replay)
    }
    let behind = bytes.count..<bytes.count + 10
    #expect(try file.read([0..<10, 20..<30, behind]) == nil)
    #expect(try file.read([bytes.count - 10..<bytes.count, behind]) == nil)
    #expect(try file.read([]) == [])
  }

  @Test func `more pieces than a call takes are read all the same`() throws {
    let folder = TemporaryFolder()
    let file = try ScratchFile(folder: folder.path)
    let bytes = (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }
    try file.write(bytes, at: 0)
    let pieces = (0..<1_700).map { 11 * $0..<11 * $0 + 5 }
    #expect(try file.read(pieces) == pieces.flatMap { bytes[$0] })
  }
}
