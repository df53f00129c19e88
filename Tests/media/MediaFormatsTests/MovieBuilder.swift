/// Makes movies of the ISO base media family, whose samples hold nothing: what is tested is where they are.
struct MovieBuilder {
  struct Sample {
    var bytes: Int
    var ticks = 1000
    var compositionOffset = 0
    var isSync = true
  }

  struct Edit {
    /// In the movie's ticks, a thousand a second.
    var ticks: Int
    /// In the media's ticks; -1 is a pause.
    var mediaStart: Int
  }

  struct Track {
    var handler = "vide"
    var timescale = 25_000
    var codec = "avc1"
    var size = (width: 64, height: 48)
    /// Boxes in the sample entry, such as `pasp`.
    var entryBoxes: [UInt8] = []
    var matrix = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000]
    var isEnabled = true
    var edits: [Edit] = []
    var samples: [Sample]
    /// Nil where all are key frames.
    var writesSyncTable = true
    var usesCompactSizes = false
    /// What the table says that each sample has; nil where it has a row for each.
    var equalBytes: Int?
  }

  /// A run of samples of a track that lie together.
  struct Chunk {
    let track: Int
    let count: Int
  }

  enum Place { case front, behind }

  var brand = "isom"
  var tracks: [Track]
  /// In the order in which they lie in the file; all samples of each track must be in one.
  var chunks: [Chunk]
  var tables = Place.front
  var usesLongOffsets = false
  /// How the size of `mdat` is written: 0 is until the file's end, 1 in 64 bits.
  var dataSizeMark: Int?
  var movieTimescale = 1000
  /// More boxes of the `moov`.
  var movieBoxes: [UInt8] = []
  /// Boxes between the type and what follows.
  var padding: [UInt8] = []

  /// Each sample of each track in its own chunk, in the order of their decode times.
  static func interleaved(_ tracks: [Track]) -> [Chunk] {
    var next = tracks.map { _ in 0 }
    var time = tracks.map { _ in 0.0 }
    var chunks: [Chunk] = []
    while let track = tracks.indices.filter({ next[$0] < tracks[$0].samples.count })
      .min(by: { time[$0] < time[$1] })
    {
      chunks.append(Chunk(track: track, count: 1))
      time[track] +=
        Double(tracks[track].samples[next[track]].ticks) / Double(tracks[track].timescale)
      next[track] += 1
    }
    return chunks
  }

  init(_ tracks: [Track], chunks: [Chunk]? = nil, tables: Place = .front) {
    self.tracks = tracks
    self.chunks = chunks ?? Self.interleaved(tracks)
    self.tables = tables
  }

  private var dataBytes: Int { tracks.reduce(0) { $0 + $1.samples.reduce(0) { $0 + $1.bytes } } }
  private var dataHeaderBytes: Int { dataSizeMark == 1 ? 16 : 8 }
  private var type: [UInt8] {
    MediaBytes.box("ftyp", MediaBytes.text(brand) + MediaBytes.number(512) + MediaBytes.text(brand))
  }

  /// Where the first sample lies.
  var dataOffset: Int {
    let head = type.count + padding.count + dataHeaderBytes
    return tables == .front ? head + movie(dataOffset: 0).count : head
  }

  /// Where each sample of each track lies.
  var sampleOffsets: [[Int]] {
    var next = tracks.map { _ in 0 }
    var offsets: [[Int]] = tracks.map { _ in [] }
    var offset = dataOffset
    for chunk in chunks {
      for _ in 0..<chunk.count {
        offsets[chunk.track].append(offset)
        offset += tracks[chunk.track].samples[next[chunk.track]].bytes
        next[chunk.track] += 1
      }
    }
    return offsets
  }

  /// The whole file.
  var file: [UInt8] {
    let movie = movie(dataOffset: dataOffset)
    let whole = dataHeaderBytes + dataBytes
    var data: [UInt8] =
      switch dataSizeMark {
      case 1:
        MediaBytes.number(1) + MediaBytes.text("mdat") + MediaBytes.number(0)
          + MediaBytes.number(whole)
      case let mark: MediaBytes.number(mark ?? whole) + MediaBytes.text("mdat")
      }
    data += [UInt8](repeating: 0xaa, count: dataBytes)
    return type + padding + (tables == .front ? movie + data : data + movie)
  }

  func movie(dataOffset: Int) -> [UInt8] {
    let header = MediaBytes.box(
      "mvhd",
      MediaBytes.number(0) + MediaBytes.number(0) + MediaBytes.number(0)
        + MediaBytes.number(movieTimescale) + [UInt8](repeating: 0, count: 84))
    return MediaBytes.box(
      "moov",
      header + tracks.indices.flatMap { track($0, dataOffset: dataOffset) } + movieBoxes)
  }

  private func track(_ index: Int, dataOffset: Int) -> [UInt8] {
    let track = tracks[index]
    let header =
      MediaBytes.number(track.isEnabled ? 3 : 2) + MediaBytes.number(0) + MediaBytes.number(0)
      + MediaBytes.number(index + 1) + MediaBytes.number(0) + MediaBytes.number(0)
      + [UInt8](repeating: 0, count: 16) + track.matrix.flatMap(MediaBytes.number)
      + MediaBytes.number(track.size.width << 16) + MediaBytes.number(track.size.height << 16)
    let edits = track.edits.flatMap {
      MediaBytes.number($0.ticks) + MediaBytes.number($0.mediaStart) + MediaBytes.number(0x1_0000)
    }
    let list = MediaBytes.box(
      "edts",
      MediaBytes.box("elst", MediaBytes.number(0) + MediaBytes.number(track.edits.count) + edits))
    let mediaHeader =
      MediaBytes.number(0) + MediaBytes.number(0) + MediaBytes.number(0)
      + MediaBytes.number(track.timescale) + MediaBytes.number(0) + MediaBytes.number(0)
    let handler =
      MediaBytes.number(0) + MediaBytes.number(0) + MediaBytes.text(track.handler)
      + [UInt8](repeating: 0, count: 13)
    let media =
      MediaBytes.box("mdhd", mediaHeader) + MediaBytes.box("hdlr", handler)
      + MediaBytes.box(
        "minf", MediaBytes.box("stbl", tables(of: index, dataOffset: dataOffset)))
    return MediaBytes.box(
      "trak",
      MediaBytes.box("tkhd", header) + (track.edits.isEmpty ? [] : list)
        + MediaBytes.box("mdia", media))
  }

  /// How often each number comes, as long as it is the same.
  private static func runs(_ numbers: [Int]) -> [[Int]] {
    numbers.reduce(into: []) { runs, number in
      if runs.last?[1] == number {
        runs[runs.count - 1][0] += 1
      } else {
        runs.append([1, number])
      }
    }
  }

  private static func rows(_ name: String, _ rows: [[Int]]) -> [UInt8] {
    MediaBytes.box(
      name,
      MediaBytes.number(0) + MediaBytes.number(rows.count)
        + rows.flatMap { $0.flatMap(MediaBytes.number) })
  }

  private func tables(of index: Int, dataOffset: Int) -> [UInt8] {
    let track = tracks[index]
    let samples = track.samples
    var boxes = MediaBytes.box(
      "stsd", MediaBytes.number(0) + MediaBytes.number(1) + entry(track))
    boxes += Self.rows("stts", Self.runs(samples.map(\.ticks)))
    if samples.contains(where: { $0.compositionOffset != 0 }) {
      boxes += Self.rows("ctts", samples.map { [1, $0.compositionOffset] })
    }
    if track.writesSyncTable, track.handler != "soun" {
      boxes += Self.rows("stss", samples.indices.filter { samples[$0].isSync }.map { [$0 + 1] })
    }
    let own = chunks.filter { $0.track == index }
    boxes += Self.rows("stsc", own.enumerated().map { [$0.offset + 1, $0.element.count, 1] })
    if let bytes = track.equalBytes {
      boxes += MediaBytes.box(
        "stsz", MediaBytes.number(0) + MediaBytes.number(bytes) + MediaBytes.number(samples.count))
    } else if track.usesCompactSizes {
      let sizes = samples.flatMap { MediaBytes.number($0.bytes).suffix(2) }
      boxes += MediaBytes.box(
        "stz2",
        MediaBytes.number(0) + MediaBytes.number(16) + MediaBytes.number(samples.count)
          + sizes)
    } else {
      boxes += MediaBytes.box(
        "stsz",
        MediaBytes.number(0) + MediaBytes.number(0) + MediaBytes.number(samples.count)
          + samples.flatMap { MediaBytes.number($0.bytes) })
    }
    return boxes + offsets(of: index, dataOffset: dataOffset)
  }

  private func offsets(of index: Int, dataOffset: Int) -> [UInt8] {
    var offset = dataOffset
    var next = tracks.map { _ in 0 }
    var rows: [[Int]] = []
    for chunk in chunks {
      if chunk.track == index {
        rows.append(usesLongOffsets ? [offset >> 32, offset & 0xffff_ffff] : [offset])
      }
      let samples = tracks[chunk.track].samples[next[chunk.track]...].prefix(chunk.count)
      offset += samples.reduce(0) { $0 + $1.bytes }
      next[chunk.track] += chunk.count
    }
    return Self.rows(usesLongOffsets ? "co64" : "stco", rows)
  }

  private func entry(_ track: Track) -> [UInt8] {
    var content = [UInt8](repeating: 0, count: 6) + [0, 1]
    if track.handler == "soun" {
      content += [UInt8](repeating: 0, count: 8) + [0, 2, 0, 16, 0, 0, 0, 0]
      content += MediaBytes.number(track.timescale << 16)
    } else {
      content += [UInt8](repeating: 0, count: 16)
      content += MediaBytes.number(track.size.width << 16 | track.size.height)
      content += [UInt8](repeating: 0, count: 50)
    }
    return MediaBytes.box(track.codec, content + track.entryBoxes)
  }
}

extension MovieBuilder.Track {
  /// Pictures at 25 a second, of this many bytes each, with a key frame every so often.
  static func pictures(_ bytes: [Int], keyEvery: Int = 10) -> MovieBuilder.Track {
    MovieBuilder.Track(
      samples: bytes.enumerated().map {
        MovieBuilder.Sample(bytes: $0.element, isSync: $0.offset % keyEvery == 0)
      })
  }

  /// Pieces of sound, 50 a second.
  static func sound(_ bytes: [Int]) -> MovieBuilder.Track {
    MovieBuilder.Track(
      handler: "soun", timescale: 50_000, codec: "mp4a",
      samples: bytes.map { MovieBuilder.Sample(bytes: $0) })
  }
}
