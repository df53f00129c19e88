/// Media files of the ISO base media family: MP4, MOV, M4A, fragmented files, and sequences of images.
struct MovieFile {
  private let reader: ByteReader
  private let type: MediaType
  private var movie: Movie?
  private var movieRange: Range<Int64> = 0..<0
  /// The headers of the boxes before the movie, which a reader needs to find it.
  private var headsBefore: [Range<Int64>] = []
  private var meter: MovieMeter?
  private var continuations: [UInt32: MovieFragment.Continuation] = [:]
  private var sampleCount: Int64 = 0
  private var fragmentCount = 0
  private var index: SegmentIndex?
  /// The end of a box that extends beyond the file.
  private var missingEnd: Int64?

  static func structure(_ reader: ByteReader, _ type: MediaType) throws -> MediaStructure {
    var file = MovieFile(reader: reader, type: type)
    try file.walk()
    return try file.structure()
  }

  private init(reader: ByteReader, type: MediaType) {
    self.reader = reader
    self.type = type
  }

  /// Walks through the top-level boxes: up to the tables, or through the whole file if it has fragments.
  private mutating func walk() throws {
    var offset: Int64 = 0
    while offset <= reader.size - 8 {
      try reader.countPart(at: offset, in: "file")
      let box = try Box(reader, at: offset)
      if fragmentCount > 0, offset - movieRange.upperBound > reader.limits.walkedBytes {
        return try addRest(from: offset)
      }
      switch box.name {
      case "moov" where movie == nil:
        try readMovie(box)
        if movie?.fragmentDefaults == nil { return }
        // Fragments are small compared to the data between them.
        reader.windowBytes = 4 << 10
      case "moof": try readFragment(box)
      case "sidx" where index == nil && box.end <= reader.size:
        index = try SegmentIndex(try content(of: box), at: box.end)
      default: break
      }
      if movie == nil { headsBefore.append(box.offset..<box.contentOffset) }
      if box.end > reader.size { missingEnd = box.end }
      offset = box.end
    }
  }

  private func content(of box: Box) throws -> FieldReader {
    let place = box.name.description
    try reader.limits.check(box.contentBytes, .tableBytes, at: box.offset, in: place)
    return try reader.fields(
      at: box.contentOffset, count: Int(box.contentBytes), in: place)
  }

  private mutating func readMovie(_ box: Box) throws {
    let movie = try Movie(try content(of: box), limits: reader.limits)
    var meter = MovieMeter(movie, reader)
    try meter.addTables()
    for track in [movie.picture, movie.sound].compactMap({ $0 }) {
      // Fragments continue where the movie's own samples end.
      var end: Int64 = 0
      if movie.fragmentDefaults != nil {
        try track.tables.forEach { end = $0.decodeTime + $0.ticks }
      }
      continuations[track.number] = .init(decodeTime: end)
    }
    self.movie = movie
    self.meter = meter
    movieRange = box.range
  }

  private mutating func readFragment(_ box: Box) throws {
    guard let defaults = movie?.fragmentDefaults else {
      throw FormatError(
        .malformed("it has fragments, but no moov that declares them"), at: box.offset, in: "moof")
    }
    if box.end > reader.size {
      missingEnd = box.end
      return
    }
    let fragment = MovieFragment(
      try content(of: box), at: box.offset, defaults: defaults, limits: reader.limits)
    try fragment.add(to: &meter!, &continuations, sampleCount: &sampleCount)
    fragmentCount += 1
  }

  /// Adds what follows `offset` without reading it: the pieces in the index, and the rest as one piece.
  private mutating func addRest(from offset: Int64) throws {
    let pieces = index?.pieces.filter { $0.end > offset } ?? []
    for piece in pieces { meter?.addPiece(from: piece.start, until: piece.until, end: piece.end) }
    let end = pieces.last?.end ?? offset
    guard end <= reader.size - 8 else { return }
    let next = try Box(reader, at: end)
    // Other boxes are not media, such as an index of all fragments at the end of the file.
    guard ["moof", "sidx", "styp", "emsg", "prft", "mdat"].contains(next.name) else { return }
    let declared = movie?.declaredMilliseconds ?? 0
    meter?.addRest(lastingMilliseconds: declared > 0 ? declared : nil, end: reader.size)
  }

  private func structure() throws -> MediaStructure {
    guard let movie, let meter else {
      // The missing part may contain the movie.
      if let missingEnd {
        throw FormatError(.cutShort(neededBytes: missingEnd), at: reader.size, in: "moov")
      }
      throw FormatError(.malformed("it has no moov"), at: 0, in: "file")
    }
    guard !meter.start.isEmpty else {
      if let missing = meter.missingEnd ?? missingEnd {
        throw FormatError(.cutShort(neededBytes: missing), at: reader.size, in: "mdat")
      }
      throw FormatError(
        .malformed("no sample of its tracks is ever shown"), at: movieRange.lowerBound, in: "moov")
    }
    // The declared duration is used if it is close to that of the samples.
    var duration = meter.durationMilliseconds
    let declared = movie.declaredMilliseconds
    if let counted = duration, declared > 0, abs(declared - counted) <= counted / 10 {
      duration = declared
    }
    let missing = [missingEnd, meter.missingEnd].compactMap { $0 }.max()
    let start = meter.start.start(
      tables: movieRange, headsBefore: headsBefore, fileBytes: reader.size,
      durationMilliseconds: missing == nil ? duration : nil)
    let entry = movie.picture?.entry
    let orientation = movie.picture?.orientation ?? .upright
    let squared = entry.flatMap { entry in
      entry.codedSize?.stretched(entry.pixelAspect.horizontal, entry.pixelAspect.vertical)
    }
    if let size = entry?.codedSize {
      try size.check(reader.limits, at: movieRange.lowerBound, in: "moov")
    }
    let layout: MediaStructure.Layout =
      fragmentCount > 0 ? .fragmented : start.isStartable ? .tablesInFront : .tablesBehind
    return MediaStructure(
      type: type, kind: kind(movie), bytes: reader.size, codedSize: entry?.codedSize,
      displaySize: orientation.swapsAxes ? squared?.turned : squared,
      orientation: orientation, hasAlpha: movie.hasAlpha, frameCount: meter.frameCount,
      durationMilliseconds: duration, videoCodec: entry?.codec,
      audioCodec: movie.sound?.entry.codec, layout: layout, start: start,
      flaws: missing.map { [.cutShort(neededBytes: $0)] } ?? [],
      isEncrypted: [movie.picture, movie.sound].contains { $0?.entry.isEncrypted == true })
  }

  private func kind(_ movie: Movie) -> MediaStructure.Kind {
    if movie.picture == nil { return .sound }
    return type.value.hasPrefix("image/") ? .animation : .video
  }
}
