import MediaFormats
import TestSupport
import Testing

/// Random movies, against what their makers know about them.
struct MovieModelTests {
  private static let rounds = 60

  @Test(arguments: TestRandom.seeds)
  func `head, curve and leads are what a player needs who waits for each frame`(seed: UInt64) throws
  {
    var random = TestRandom(seed)
    for _ in 0..<Self.rounds {
      let movie = Self.movie(&random)
      let found = try MediaStructure(reading: BytesInMemory(movie.file))
      let model = MovieModel(movie)
      #expect(found.start.headBytes == model.headBytes, TestRandom.replay)
      for point in found.start.curve.dropLast() {
        #expect(
          point.bytes == model.bytes(until: Double(point.milliseconds) / 1000), TestRandom.replay)
      }
      for row in found.start.lead {
        let bytesPerSecond = Double(row.kilobitsPerSecond) * 125
        // With this many bytes nothing stalls; without as much as a millisecond brings, something does.
        #expect(!model.stalls(lead: Double(row.bytes), bytesPerSecond), TestRandom.replay)
        let less = Double(row.bytes) - bytesPerSecond / 1000 - 1
        #expect(
          row.bytes == found.start.headBytes || model.stalls(lead: less, bytesPerSecond),
          TestRandom.replay)
      }
      Self.checkOrder(found)
    }
  }

  /// What holds for any file.
  static func checkOrder(_ found: MediaStructure) {
    var bytes = found.start.headBytes
    #expect(bytes >= 0 && bytes <= found.bytes, TestRandom.replay)
    for point in found.start.curve {
      #expect(point.bytes >= bytes && point.bytes <= found.bytes, TestRandom.replay)
      bytes = point.bytes
    }
    bytes = found.bytes
    for row in found.start.lead {
      #expect(row.bytes <= bytes && row.bytes >= found.start.headBytes, TestRandom.replay)
      bytes = row.bytes
    }
  }

  private static func movie(_ random: inout TestRandom) -> MovieBuilder {
    let seconds = random.number(1...12)
    var pictures = MovieBuilder.Track.pictures(
      (0..<25 * seconds).map { $0 % 12 == 0 ? random.number(500...9000) : random.number(0...900) },
      keyEvery: 12)
    if random.chance(60) { reorder(&pictures) }
    if random.chance(40) {
      let start = random.number(0...5)
      pictures.edits = [
        .init(ticks: 40 * (pictures.samples.count - start), mediaStart: 1000 * start)
      ]
    }
    var tracks = [pictures]
    if random.chance(70) {
      tracks.append(.sound((0..<50 * seconds).map { _ in random.number(1...200) }))
    }
    return MovieBuilder(tracks, chunks: chunks(tracks, &random))
  }

  /// Groups I P B B, of which each is shown a frame later than it would be otherwise.
  private static func reorder(_ track: inout MovieBuilder.Track) {
    for index in track.samples.indices where index % 12 != 0 {
      let place = (index % 12 - 1) % 3
      track.samples[index].compositionOffset = [3000, 0, 0][place]
    }
    for index in track.samples.indices { track.samples[index].compositionOffset += 1000 }
  }

  /// Any interleaving that keeps each track's order.
  private static func chunks(
    _ tracks: [MovieBuilder.Track], _ random: inout TestRandom
  ) -> [MovieBuilder.Chunk] {
    if random.chance(50) { return MovieBuilder.interleaved(tracks) }
    var left = tracks.map(\.samples.count)
    var chunks: [MovieBuilder.Chunk] = []
    while let track = left.indices.filter({ left[$0] > 0 }).randomElement(using: &random) {
      let count = min(left[track], random.number(1...40))
      chunks.append(.init(track: track, count: count))
      left[track] -= count
    }
    return chunks
  }
}

/// What a player needs, worked out the slow way.
private struct MovieModel {
  private struct Step {
    let track: Int
    let seconds: Double
    /// The largest end of it and all before it of its track.
    let end: Int64
  }

  private let steps: [Step]
  private let tables: Int64
  private let origin: Double

  init(_ movie: MovieBuilder) {
    let offsets = movie.sampleOffsets
    tables = Int64(movie.dataOffset - 8)
    var steps: [Step] = []
    for (number, track) in movie.tracks.enumerated() {
      var ticks = 0
      var end: Int64 = 0
      for (index, sample) in track.samples.enumerated() {
        end = max(end, Int64(offsets[number][index] + sample.bytes))
        let time = ticks + sample.compositionOffset - (track.edits.first?.mediaStart ?? 0)
        ticks += sample.ticks
        let isShown = track.edits.isEmpty || time >= 0
        if isShown {
          steps.append(
            Step(track: number, seconds: Double(time) / Double(track.timescale), end: end))
        }
      }
    }
    self.steps = steps
    origin = steps.map(\.seconds).min()!
  }

  var headBytes: Int64 {
    let first = steps.filter { $0.track == 0 }.map(\.seconds).min()!
    return steps.filter { $0.seconds <= first }.map(\.end).reduce(tables, max)
  }

  func bytes(until seconds: Double) -> Int64 {
    steps.filter { $0.seconds - origin < seconds - 1e-9 }.map(\.end).reduce(headBytes, max)
  }

  /// Whether a player that starts with `lead` bytes there ever waits.
  func stalls(lead: Double, _ bytesPerSecond: Double) -> Bool {
    steps.contains { Double($0.end) > lead + bytesPerSecond * ($0.seconds - origin) + 0.5 }
  }
}
