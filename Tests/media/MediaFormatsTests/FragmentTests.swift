import Testing

@testable import MediaFormats

/// Makes fragmented movies.
struct FragmentBuilder {
  /// Where a fragment says that its data are (ISO/IEC 14496-12 section 8.8.7).
  enum Base: CaseIterable { case fragment, explicit, implicit }

  var base: Base
  var tracks: [MovieBuilder.Track]
  /// How many samples of each track each fragment has.
  var counts: [[Int]]
  var writesIndex = false
  var writesTimes = true

  private var head: [UInt8] {
    var movie = MovieBuilder(
      tracks.map { track in
        var track = track
        track.samples = []
        return track
      }, chunks: [])
    movie.movieBoxes = MediaBytes.box(
      "mvex",
      tracks.indices.flatMap { index in
        MediaBytes.box(
          "trex",
          MediaBytes.number(0) + MediaBytes.number(index + 1) + MediaBytes.number(1)
            + MediaBytes.number(tracks[index].samples[0].ticks) + MediaBytes.number(0)
            + MediaBytes.number(0))
      })
    return MediaBytes.box(
      "ftyp", MediaBytes.text("iso5") + MediaBytes.number(512) + MediaBytes.text("iso5"))
      + movie.movie(dataOffset: 0)
  }

  /// The file, where each sample of each track ends in it, and where each fragment does.
  func file() -> (bytes: [UInt8], ends: [[Int64]], fragmentEnds: [Int64]) {
    var bytes = head
    let indexOffset = bytes.count
    let indexBytes = 12 + 20 + 12 * counts.count
    if writesIndex { bytes += [UInt8](repeating: 0, count: indexBytes) }
    var next = tracks.map { _ in 0 }
    var ends: [[Int64]] = tracks.map { _ in [] }
    var fragmentEnds: [Int64] = []
    for (number, count) in counts.enumerated() {
      let size = fragment(number, count, next, offset: bytes.count, dataOffset: 0).count
      bytes += fragment(number, count, next, offset: bytes.count, dataOffset: size + 8)
      let samples = tracks.indices.flatMap { track in
        tracks[track].samples[next[track]...].prefix(count[track]).map { (track, $0.bytes) }
      }
      let data = samples.reduce(0) { $0 + $1.1 }
      bytes += MediaBytes.number(data + 8) + MediaBytes.text("mdat")
      for (track, length) in samples {
        bytes += [UInt8](repeating: 0xbb, count: length)
        ends[track].append(Int64(bytes.count))
        next[track] += 1
      }
      fragmentEnds.append(Int64(bytes.count))
    }
    if writesIndex {
      let first = Int64(indexOffset + indexBytes)
      let sizes = zip(fragmentEnds, [first] + fragmentEnds).map { Int($0 - $1) }
      bytes.replaceSubrange(indexOffset..<indexOffset + indexBytes, with: index(sizes))
    }
    return (bytes, ends, fragmentEnds)
  }

  private func index(_ sizes: [Int]) -> [UInt8] {
    let rows = zip(sizes, counts).flatMap { size, count in
      MediaBytes.number(size) + MediaBytes.number(count[0] * tracks[0].samples[0].ticks)
        + MediaBytes.number(0x9000_0000)
    }
    return MediaBytes.box(
      "sidx",
      MediaBytes.number(0) + MediaBytes.number(1) + MediaBytes.number(tracks[0].timescale)
        + MediaBytes.number(0) + MediaBytes.number(0) + MediaBytes.number(sizes.count) + rows)
  }

  private func fragment(
    _ number: Int, _ count: [Int], _ next: [Int], offset: Int, dataOffset: Int
  ) -> [UInt8] {
    var dataStart = dataOffset
    var content = MediaBytes.box("mfhd", MediaBytes.number(0) + MediaBytes.number(number + 1))
    for track in tracks.indices {
      let samples = tracks[track].samples[next[track]...].prefix(count[track])
      var header = MediaBytes.number(base == .explicit ? 1 : base == .fragment ? 0x2_0000 : 0)
      header += MediaBytes.number(track + 1)
      if base == .explicit { header += MediaBytes.number(0) + MediaBytes.number(offset) }
      let time = tracks[track].samples[..<next[track]].reduce(0) { $0 + $1.ticks }
      // Sizes, flags, composition offsets; the offset of the data where it doesn't follow from what was
      // before.
      let saysWhere = base != .implicit || track == 0
      var run = MediaBytes.number(0xe00 | (saysWhere ? 1 : 0)) + MediaBytes.number(samples.count)
      if saysWhere { run += MediaBytes.number(dataStart) }
      for sample in samples {
        run += MediaBytes.number(sample.bytes) + MediaBytes.number(sample.isSync ? 0 : 0x1_0000)
        run += MediaBytes.number(sample.compositionOffset)
      }
      content += MediaBytes.box(
        "traf",
        MediaBytes.box("tfhd", header)
          + (writesTimes
            ? MediaBytes.box("tfdt", MediaBytes.number(0) + MediaBytes.number(time)) : [])
          + MediaBytes.box("trun", run))
      dataStart += samples.reduce(0) { $0 + $1.bytes }
    }
    return MediaBytes.box("moof", content)
  }
}

struct FragmentTests {
  private static let tracks: [MovieBuilder.Track] = [
    .pictures((0..<300).map { $0 % 25 == 0 ? 4000 : 200 + $0 % 7 }, keyEvery: 25),
    .sound((0..<600).map { 30 + $0 % 5 }),
  ]

  /// A file of two fragments.
  static func small(_ base: FragmentBuilder.Base) -> [UInt8] {
    var builder = FragmentBuilder(
      base: base, tracks: [.pictures([40, 9, 9, 9]), .sound([5, 5, 5, 5])],
      counts: [[2, 2], [2, 2]])
    builder.writesIndex = true
    return builder.file().bytes
  }

  private static func builder(_ base: FragmentBuilder.Base) -> FragmentBuilder {
    FragmentBuilder(
      base: base, tracks: tracks, counts: [[Int]](repeating: [25, 50], count: 12))
  }

  @Test(arguments: FragmentBuilder.Base.allCases, [true, false])
  func `samples are found wherever a fragment says that its data begin`(
    base: FragmentBuilder.Base, writesTimes: Bool
  ) throws {
    var builder = Self.builder(base)
    builder.writesTimes = writesTimes
    let (bytes, ends, _) = builder.file()
    let found = try MediaStructure(reading: BytesInMemory(bytes))
    #expect(found.layout == .fragmented)
    #expect(found.frameCount == 300)
    #expect(found.durationMilliseconds == 12_000)
    // All pictures of a fragment come before its sound.
    #expect(found.start.headBytes == ends[1][0])
    #expect(
      found.start.curve == [
        .init(milliseconds: 1000, bytes: ends[1][49]),
        .init(milliseconds: 2000, bytes: ends[1][99]),
        .init(milliseconds: 3000, bytes: ends[1][149]),
        .init(milliseconds: 5000, bytes: ends[1][249]),
        .init(milliseconds: 10_000, bytes: ends[1][499]),
        .init(milliseconds: 12_000, bytes: ends[1][599]),
      ])
  }

  @Test func `behind what is looked at, the index says when each piece is needed`() throws {
    var builder = Self.builder(.fragment)
    builder.writesIndex = true
    let (bytes, ends, fragmentEnds) = builder.file()
    var limits = MediaLimits()
    limits.walkedBytes = fragmentEnds[3] - 3000
    let source = CountingSource(bytes)
    let found = try MediaStructure(reading: source, limits: limits)
    #expect(found.durationMilliseconds == 12_000)
    #expect(
      found.start.curve.map(\.bytes) == [
        ends[1][49], ends[1][99], ends[1][149], fragmentEnds[4], fragmentEnds[9],
        fragmentEnds[11],
      ])
    #expect(source.bytesRead < fragmentEnds[4] + 64 << 10)
    let exact = try MediaStructure(reading: BytesInMemory(bytes))
    for (coarse, fine) in zip(found.start.lead, exact.start.lead) {
      #expect(coarse.kilobitsPerSecond == fine.kilobitsPerSecond && coarse.bytes >= fine.bytes)
    }
  }

  @Test func `without an index all of the rest is needed at once, and its end is not known`() throws
  {
    let (bytes, ends, fragmentEnds) = Self.builder(.fragment).file()
    var limits = MediaLimits()
    limits.walkedBytes = fragmentEnds[3] - 3000
    let found = try MediaStructure(reading: BytesInMemory(bytes), limits: limits)
    #expect(found.durationMilliseconds == nil)
    #expect(found.start.curve.map(\.milliseconds) == [1000, 2000, 3000])
    #expect(found.start.curve.map(\.bytes) == [ends[1][49], ends[1][99], ends[1][149]])
  }

  @Test func `a file whose last fragment is cut short plays up to there`() throws {
    let (bytes, ends, fragmentEnds) = Self.builder(.fragment).file()
    let found = try MediaStructure(
      reading: BytesInMemory(Array(bytes.prefix(Int(fragmentEnds[11]) - 5000))))
    #expect(found.flaws == [.cutShort(neededBytes: fragmentEnds[11])])
    #expect(found.start.curve.map(\.bytes).contains(ends[1][499]))
    #expect(found.start.curve.last!.bytes <= fragmentEnds[11] - 5000)
  }

  @Test func `fragments without a movie that announces them are refused`() {
    let file =
      MediaBytes.box("ftyp", MediaBytes.text("iso5") + MediaBytes.number(0))
      + MediaBytes.box("moof", []) + MediaBytes.box("mdat", [])
    #expect(MovieTests.error(file)?.place == "moof")
  }
}
