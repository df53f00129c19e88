import Testing

@testable import MediaFormats

struct MovieTests {
  private typealias Track = MovieBuilder.Track

  private static func structure(_ movie: MovieBuilder) throws -> MediaStructure {
    try MediaStructure(reading: BytesInMemory(movie.file))
  }

  /// Where this many samples of the first track end.
  private static func end(_ movie: MovieBuilder, track: Int = 0, sample: Int) -> Int64 {
    Int64(movie.sampleOffsets[track][sample] + movie.tracks[track].samples[sample].bytes)
  }

  @Test func `the head is all up to the end of the first frame and of the sound of its moment`()
    throws
  {
    let movie = MovieBuilder([
      .pictures([900] + [Int](repeating: 100, count: 49)),
      .sound([Int](repeating: 30, count: 100)),
    ])
    let found = try Self.structure(movie)
    #expect(found.start.headBytes == Self.end(movie, track: 1, sample: 0))
    #expect(found.start.isStartable)
    #expect(found.start.neededRanges == [0..<found.start.headBytes])
    #expect(found.layout == .tablesInFront)
    #expect(found.kind == .video)
    #expect(found.videoCodec == "h264" && found.audioCodec == "aac")
    #expect(found.frameCount == 50)
    #expect(found.durationMilliseconds == 2000)
    // 25 frames, or 50 pieces of sound, are a second.
    let second = max(Self.end(movie, sample: 24), Self.end(movie, track: 1, sample: 49))
    #expect(
      found.start.curve == [
        .init(milliseconds: 1000, bytes: second),
        .init(milliseconds: 2000, bytes: Int64(movie.file.count)),
      ])
  }

  @Test func `sound that is interleaved late is waited for`() throws {
    let pictures = Track.pictures([Int](repeating: 500, count: 50))
    let sound = Track.sound([Int](repeating: 40, count: 100))
    let movie = MovieBuilder(
      [pictures, sound],
      chunks: [.init(track: 0, count: 40), .init(track: 1, count: 100), .init(track: 0, count: 10)])
    let start = try Self.structure(movie).start
    #expect(start.headBytes == Self.end(movie, track: 1, sample: 0))
    #expect(start.curve[0].bytes == Self.end(movie, track: 1, sample: 49))
  }

  @Test(arguments: [false, true], [nil, 0, 1] as [Int?])
  func `offsets of 64 bits, compact sizes and any way to write the size of the data are the same`(
    usesLongOffsets: Bool, dataSizeMark: Int?
  ) throws {
    var pictures = Track.pictures([700, 80, 80, 80])
    pictures.usesCompactSizes = usesLongOffsets
    var movie = MovieBuilder([pictures])
    movie.usesLongOffsets = usesLongOffsets
    movie.dataSizeMark = dataSizeMark
    let found = try Self.structure(movie)
    #expect(found.start.headBytes == Self.end(movie, sample: 0))
    #expect(found.start.curve.last?.bytes == Int64(movie.file.count))
    #expect(found.flaws.isEmpty)
  }

  @Test func `tables behind the data: two ranges are needed, and a head alone starts nothing`()
    throws
  {
    let movie = MovieBuilder(
      [.pictures([Int](repeating: 2000, count: 100)), .sound([Int](repeating: 50, count: 200))],
      tables: .behind)
    let file = movie.file
    let source = CountingSource(file)
    let found = try MediaStructure(reading: source)
    let tables = Int64(movie.dataOffset + 210_000)..<Int64(file.count)
    #expect(found.layout == .tablesBehind)
    #expect(!found.start.isStartable)
    #expect(
      found.start.neededRanges == [0..<Self.end(movie, track: 1, sample: 0), tables])
    #expect(found.start.headBytes == Int64(file.count))
    #expect(found.start.curve.allSatisfy { $0.bytes == Int64(file.count) })
    #expect(found.start.lead.isEmpty)
    #expect(source.bytesRead < 64 << 10)
  }

  @Test func `tables right behind the only frame are one piece with it`() throws {
    let movie = MovieBuilder([.pictures([500])], tables: .behind)
    let start = try Self.structure(movie).start
    #expect(!start.isStartable)
    #expect(start.neededRanges == [0..<Int64(movie.file.count)])
  }

  @Test func `of a file with its tables in front nothing behind them is read but a window`() throws
  {
    let movie = MovieBuilder([.pictures([Int](repeating: 40_000, count: 2000))])
    let file = movie.file
    let source = CountingSource(file)
    let found = try MediaStructure(reading: source)
    #expect(found.frameCount == 2000)
    #expect(source.bytesRead <= Int64(movie.dataOffset) + 64 << 10)
    #expect(source.ranges.count <= 3)
  }

  @Test func `without a table of key frames each frame is one`() throws {
    var pictures = Track.pictures([300, 20, 20], keyEvery: 3)
    pictures.writesSyncTable = false
    let movie = MovieBuilder([pictures])
    #expect(try Self.structure(movie).start.headBytes == Self.end(movie, sample: 0))
  }

  @Test func `nothing is shown before the first key frame`() throws {
    var pictures = Track.pictures([300, 20, 20, 400, 20])
    for index in pictures.samples.indices { pictures.samples[index].isSync = index == 3 }
    let movie = MovieBuilder([pictures])
    #expect(try Self.structure(movie).start.headBytes == Self.end(movie, sample: 3))
  }

  /// I0 P3 B1 B2, shown as I0 B1 B2 P3, two frames later than decoded.
  private static func reordered(edits: [MovieBuilder.Edit]) -> MovieBuilder {
    var pictures = Track.pictures([800, 300, 50, 60, 310, 51, 61], keyEvery: 7)
    let offsets = [2, 4, 1, 1, 4, 1, 1]
    for index in pictures.samples.indices {
      pictures.samples[index].compositionOffset = offsets[index] * 1000
    }
    pictures.edits = edits
    return MovieBuilder([pictures])
  }

  @Test func `frames that are shown in another order need all that is decoded before them`() throws
  {
    // From the frame on that is shown second and decoded third.
    let second = Self.reordered(edits: [.init(ticks: 240, mediaStart: 3000)])
    #expect(try Self.structure(second).start.headBytes == Self.end(second, sample: 2))
    // From the fourth on, which is decoded second; the ones between are not waited for.
    let fourth = Self.reordered(edits: [.init(ticks: 160, mediaStart: 5000)])
    #expect(try Self.structure(fourth).start.headBytes == Self.end(fourth, sample: 1))
    let all = Self.reordered(edits: [.init(ticks: 280, mediaStart: 2000)])
    #expect(try Self.structure(all).start.headBytes == Self.end(all, sample: 0))
    #expect(try Self.structure(all).durationMilliseconds == 280)
  }

  @Test func `an edit that begins within a frame waits for the next one as well`() throws {
    let movie = Self.reordered(edits: [.init(ticks: 240, mediaStart: 2500)])
    #expect(try Self.structure(movie).start.headBytes == Self.end(movie, sample: 2))
  }

  /// Sound of 16 bits and two channels: samples of four bytes, of which QuickTime's tables may say one.
  @Test(arguments: [4, 1])
  func `sound that is not compressed is taken by the piece`(saidBytes: Int) throws {
    var sound = MovieBuilder.Track(
      handler: "soun", timescale: 8000, codec: "sowt",
      samples: [MovieBuilder.Sample](repeating: .init(bytes: 4, ticks: 1), count: 16_000))
    sound.equalBytes = saidBytes
    let pictures = MovieBuilder.Track.pictures([Int](repeating: 100, count: 50))
    let chunks = (0..<4).flatMap { second in
      [MovieBuilder.Chunk(track: 0, count: second < 2 ? 13 : 12), .init(track: 1, count: 4000)]
    }
    let movie = MovieBuilder([pictures, sound], chunks: chunks)
    var limits = MediaLimits()
    limits.samples = 100
    let found = try MediaStructure(reading: BytesInMemory(movie.file), limits: limits)
    #expect(found.audioCodec == "pcm_s16le" && found.flaws.isEmpty)
    #expect(found.durationMilliseconds == 2000)
    // 1024 samples are a piece.
    #expect(found.start.headBytes == Int64(movie.sampleOffsets[1][0] + 4096))
    #expect(found.start.curve[0].bytes == Int64(movie.sampleOffsets[1][7999] + 4))
  }

  @Test func `a pause at the beginning moves all of a track`() throws {
    var sound = Track.sound([Int](repeating: 40, count: 100))
    sound.edits = [.init(ticks: 1000, mediaStart: -1), .init(ticks: 2000, mediaStart: 0)]
    let movie = MovieBuilder([.pictures([Int](repeating: 100, count: 75)), sound])
    let found = try Self.structure(movie)
    #expect(found.durationMilliseconds == 3000)
    #expect(found.start.headBytes == Self.end(movie, sample: 0))
    #expect(found.start.curve[0].bytes == Self.end(movie, sample: 24))
  }

  @Test(arguments: [
    ([1, 0, 0, 1], 1, "64x48"), ([0, 1, -1, 0], 6, "48x64"), ([-1, 0, 0, -1], 3, "64x48"),
    ([0, -1, 1, 0], 8, "48x64"), ([-1, 0, 0, 1], 2, "64x48"), ([1, 0, 0, -1], 4, "64x48"),
    ([0, 1, 1, 0], 5, "48x64"), ([0, -1, -1, 0], 7, "48x64"),
  ])
  func `the matrix turns the picture`(_ matrix: [Int], _ orientation: Int, _ shown: String) throws {
    var pictures = Track.pictures([10])
    let unit = 0x1_0000
    pictures.matrix = [
      matrix[0] * unit, matrix[1] * unit, 0, matrix[2] * unit, matrix[3] * unit, 0, 0, 0,
      0x4000_0000,
    ]
    let found = try Self.structure(MovieBuilder([pictures]))
    #expect(found.orientation.exifValue == orientation)
    #expect(found.displaySize.map { "\($0.width)x\($0.height)" } == shown)
    #expect(found.codedSize == PixelSize(width: 64, height: 48))
  }

  @Test func `pixels that are not square are made so, and then turned`() throws {
    var pictures = Track.pictures([10])
    pictures.size = (720, 576)
    pictures.entryBoxes = MediaBytes.box("pasp", MediaBytes.number(64) + MediaBytes.number(45))
    #expect(
      try Self.structure(MovieBuilder([pictures])).displaySize
        == PixelSize(width: 1024, height: 576))
    pictures.matrix = [0, 0x1_0000, 0, -0x1_0000, 0, 0, 0, 0, 0x4000_0000]
    #expect(
      try Self.structure(MovieBuilder([pictures])).displaySize
        == PixelSize(width: 576, height: 1024))
  }

  @Test func `of several tracks the enabled ones are played`() throws {
    var cover = Track.pictures([5000])
    cover.isEnabled = false
    cover.codec = "jpeg"
    let movie = MovieBuilder([cover, .pictures([100, 20]), .sound([9, 9])])
    let found = try Self.structure(movie)
    #expect(found.videoCodec == "h264")
    #expect(found.frameCount == 2)
  }

  @Test func `a file that is cut short says so, and how far what is there plays`() throws {
    let movie = MovieBuilder([.pictures([Int](repeating: 1000, count: 100))])
    let file = movie.file
    let there = movie.sampleOffsets[0][60] + 10
    let found = try MediaStructure(reading: BytesInMemory(Array(file.prefix(there))))
    #expect(found.flaws == [.cutShort(neededBytes: Int64(file.count))])
    #expect(found.durationMilliseconds == 4000)
    #expect(
      found.start.curve == [
        .init(milliseconds: 1000, bytes: Self.end(movie, sample: 24)),
        .init(milliseconds: 2000, bytes: Self.end(movie, sample: 49)),
        .init(milliseconds: 2400, bytes: Self.end(movie, sample: 59)),
      ])
    #expect(found.start.curve.allSatisfy { $0.bytes <= Int64(there) })
  }

  @Test func `a source that has less than it says is an error that names the place`() {
    let file = MovieBuilder([.pictures([1000, 1000])]).file
    let source = CountingSource(Array(file.prefix(100)), saidSize: file.count)
    #expect(throws: FormatError.self) { try MediaStructure(reading: source) }
  }

  @Test func `a file that grows is read as it was when it was opened`() throws {
    let movie = MovieBuilder([.pictures([Int](repeating: 1000, count: 100))])
    let opened = movie.sampleOffsets[0][50]
    let growing = CountingSource(movie.file, saidSize: opened)
    let found = try MediaStructure(reading: growing)
    #expect(found.bytes == Int64(opened))
    #expect(found.flaws == [.cutShort(neededBytes: Int64(movie.file.count))])
    #expect(found.start.curve.last?.bytes == Int64(opened))
  }

  @Test func `what is wrong is named with its place`() throws {
    var movie = MovieBuilder([.pictures([100])])
    movie.movieTimescale = 0
    #expect(Self.error(movie.file)?.place == "moov/mvhd")
    #expect(Self.error(movie.file)?.reason == .malformed("its timescale is 0 ticks a second"))
    movie.movieTimescale = 1000
    movie.movieBoxes = MediaBytes.box("cmov", [])
    #expect(Self.error(movie.file)?.reason == .unsupported("the movie's tables are compressed"))
    #expect(Self.error([])?.reason == .empty)
    let short = MediaBytes.box("ftyp", MediaBytes.text("isom") + MediaBytes.number(0))
    let loop = short + MediaBytes.number(4) + MediaBytes.text("free") + MediaBytes.number(0)
    #expect(Self.error(loop)?.offset == 16)
    #expect(Self.error(loop)?.place == "free")
  }

  static func error(_ file: [UInt8]) -> FormatError? {
    do throws(any Error) {
      _ = try MediaStructure(reading: BytesInMemory(file))
      return nil
    } catch { return error as? FormatError }
  }

  @Test func `limits are kept`() throws {
    var limits = MediaLimits()
    limits.samples = 9
    let source = BytesInMemory(MovieBuilder([.pictures([Int](repeating: 1, count: 10))]).file)
    #expect(throws: FormatError.self) { try MediaStructure(reading: source, limits: limits) }
    limits.samples = 10
    #expect(try MediaStructure(reading: source, limits: limits).frameCount == 10)
    limits.tableBytes = 100
    #expect(throws: FormatError.self) { try MediaStructure(reading: source, limits: limits) }
  }
}
