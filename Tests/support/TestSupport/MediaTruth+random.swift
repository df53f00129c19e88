import Feed

extension MediaTruth {
  /// Anything that can be true of a file, and nothing that cannot.
  package static func random(_ random: inout TestRandom) -> MediaTruth {
    func maybe<Value>(_ value: Value) -> Value? { random.once(in: 3) ? nil : value }
    let bytes = random.number(100...1 << 40)
    var points: [MediaTiming.Point] = []
    var (time, count) = (0, random.number(0...bytes))
    let head = count
    for _ in 0..<random.number(0...6) {
      time += random.number(0...5_000)
      count = random.number(count...bytes)
      points.append(.init(milliseconds: time, bytes: count))
    }
    var rows: [MediaTiming.Lead] = []
    var (bandwidth, lead) = (0, bytes)
    for _ in 0..<random.number(0...10) {
      bandwidth += random.number(1...5_000)
      lead = random.number(0...lead)
      rows.append(.init(kilobitsPerSecond: bandwidth, bytes: lead))
    }
    let isStartable = random.once(in: 2)
    let versions: [MediaVersion] = [
      .content(sha256: (0..<32).map { _ in UInt8(random.number(0...255)) }),
      .entityTag(#""a:\b""#), .modified("Sun, 06 Nov 1994 08:49:37 GMT"),
    ]
    let hasSound = maybe(random.once(in: 2))
    var truth = MediaTruth(
      kind: random.one(of: MediaTruth.Kind.allCases), bytes: bytes,
      mimeType: "image/svg+xml", codec: maybe("h264"),
      soundCodec: hasSound == true ? maybe("aac") : nil, hasSound: hasSound,
      width: maybe(random.number(1...1_000_000)), height: maybe(random.number(1...1_000_000)),
      frameCount: maybe(random.number(1...1_000)), durationMilliseconds: maybe(time),
      placeholder: maybe(
        MediaPlaceholder(
          thumbHash: (0..<random.number(5...25)).map { _ in UInt8(random.number(0...255)) },
          color: .init(red: UInt8(random.number(0...255)), green: 0, blue: 255))),
      start: maybe(
        MediaTiming(
          isStartable: isStartable, headBytes: head,
          neededRanges: isStartable ? [] : [0..<10, 50..<100],
          scanEnds: random.once(in: 2) ? [] : [10, 60, 100], curve: points, lead: rows)),
      version: maybe(random.one(of: versions)))
    truth.isEncrypted = random.once(in: 4)
    truth.missingDecoder = maybe(random.one(of: MissingDecoder.allCases))
    return truth
  }
}

extension MediaVariant {
  /// Variants as one file can have them: one at least.
  package static func random(_ random: inout TestRandom) -> [MediaVariant] {
    (0..<random.number(1...limit)).map { index in
      var truth = MediaTruth.random(&random)
      truth.version = truth.version ?? .entityTag("\"\(index)\"")
      return MediaVariant(url: "/media/é \"\(index)", truth: truth)
    }
    .sorted { $0.truth.bytes < $1.truth.bytes }
  }
}
