import Testing

@testable import MediaFormats

struct FaststartTests {
  private static let tracks: [MovieBuilder.Track] = [
    .pictures((0..<60).map { 100 + $0 }), .sound((0..<120).map { 10 + $0 % 3 }),
  ]

  /// The file that a plan makes of an old one.
  static func file(_ plan: FaststartPlan, _ old: [UInt8]) -> [UInt8] {
    plan.head + plan.ranges.flatMap { old[Int($0.lowerBound)..<Int($0.upperBound)] }
  }

  @Test(arguments: [false, true])
  func `the tables come in front, and every sample keeps its bytes`(usesLongOffsets: Bool) throws {
    var movie = MovieBuilder(Self.tracks, tables: .behind)
    movie.usesLongOffsets = usesLongOffsets
    movie.padding = MediaBytes.box("free", [1, 2, 3])
    let old = movie.file
    let source = CountingSource(old)
    let plan = try FaststartPlan(for: source)
    let new = Self.file(plan, old)
    #expect(plan.bytes == Int64(new.count))
    #expect(new.count == old.count)
    // What a builder makes of the same samples with its tables in front, but for the place of the padding.
    var front = MovieBuilder(Self.tracks)
    front.usesLongOffsets = usesLongOffsets
    let difference = Int64(movie.padding.count)
    let found = try MediaStructure(reading: BytesInMemory(new))
    #expect(found.layout == .tablesInFront)
    #expect(
      found.start.headBytes
        == (try MediaStructure(reading: BytesInMemory(front.file))).start.headBytes + difference)
    #expect(throws: FaststartError.tablesInFront) { try FaststartPlan(for: BytesInMemory(new)) }
  }

  @Test func `offsets that no longer fit get 64 bits`() throws {
    // Two chunks, the second just below 4 GiB: with the tables in front it lies beyond.
    let last = Int64(UInt32.max) - 50
    let ranges = [Int64(24)..<last + 100]
    let movie = MovieBuilder([.pictures([10, 10])]).movie(dataOffset: 40)
    let content = FieldReader(movie[8...], at: 0, in: "moov")
    var tables = MovieTables(content)
    let offsets = try tables.chunkOffsets()
    #expect(offsets == [40, 50])
    let patched = Self.replacing(movie, MediaBytes.number(50), with: MediaBytes.number(Int(last)))
    var large = MovieTables(FieldReader(patched[8...], at: 0, in: "moov"))
    let moved = try large.moved(behind: 24, ranges)
    // Four bytes more for each chunk, and all moved by as much as now comes before.
    #expect(moved.count == movie.count + 8)
    let new = MovieTables(FieldReader(moved[8...], at: 0, in: "moov"))
    #expect(try new.chunkOffsets() == [40 + Int64(moved.count), last + Int64(moved.count)])
    #expect(try tables.moved(behind: 24, ranges).count == movie.count)
  }

  /// The last place of some bytes gets others.
  private static func replacing(_ all: [UInt8], _ old: [UInt8], with new: [UInt8]) -> [UInt8] {
    let place = (0...all.count - old.count).last { Array(all[$0..<$0 + old.count]) == old }!
    return Array(all[..<place]) + new + Array(all[(place + old.count)...])
  }

  @Test func `what cannot be moved is refused with its reason`() throws {
    var movie = MovieBuilder(Self.tracks, tables: .behind)
    func error() -> FaststartError? {
      do throws(any Error) {
        _ = try FaststartPlan(for: BytesInMemory(movie.file))
        return nil
      } catch { return error as? FaststartError }
    }
    #expect(error() == nil)
    movie.movieBoxes = MediaBytes.box("mvex", [])
    #expect(error() == .fragmented)
    movie.movieBoxes = MediaBytes.box("cmov", [])
    #expect(error() == .compressed)
    movie.movieBoxes = MediaBytes.box(
      "meta", MediaBytes.number(0) + MediaBytes.box("iloc", [0, 0, 0, 0]))
    guard case .otherOffsets(box: "moov/meta/iloc", _) = error() else {
      Issue.record("\(String(describing: error()))")
      return
    }
    movie.movieBoxes = []
    movie.tracks[0].codec = "encv"
    #expect(error() == .encrypted)
    movie.tracks[0].codec = "avc1"
    movie.padding = MediaBytes.box("sidx", [])
    #expect(error() == .otherOffsets(box: "sidx", offset: 20))
    #expect(
      throws: FaststartError.otherFormat(MediaType(head: MediaBytes.text("GIF89a"), name: ""))
    ) { try FaststartPlan(for: BytesInMemory(MediaBytes.text("GIF89a"))) }
  }

  @Test func `a chunk outside the data, and a file that is cut short, are refused`() throws {
    let movie = MovieBuilder([.pictures([10, 10])], tables: .behind)
    let offset = movie.dataOffset
    let file = Self.replacing(
      movie.file, MediaBytes.number(offset + 10), with: MediaBytes.number(100_000))
    #expect(throws: FaststartError.chunkOutside(chunkOffset: 100_000)) {
      try FaststartPlan(for: BytesInMemory(file))
    }
    #expect(throws: FormatError.self) {
      try FaststartPlan(for: BytesInMemory(movie.file.dropLast(5)))
    }
  }
}

extension BytesInMemory {
  init(_ bytes: ArraySlice<UInt8>) { self.init(Array(bytes)) }
}
