@testable import MediaFormats

/// Sound files of the kinds whose structure is read, small ones.
enum StructureSamples {
  static let all: [[UInt8]] = movies + others

  private static let movies: [[UInt8]] = {
    var reordered = MovieBuilder.Track.pictures([90, 40, 10, 12, 80, 9], keyEvery: 4)
    for (index, offset) in [2, 4, 1, 1, 2, 3].enumerated() {
      reordered.samples[index].compositionOffset = offset * 1000
    }
    reordered.edits = [.init(ticks: 200, mediaStart: 2000)]
    reordered.entryBoxes = MediaBytes.box("pasp", MediaBytes.number(4) + MediaBytes.number(3))
    var compact = MovieBuilder.Track.pictures([40, 10, 10])
    compact.usesCompactSizes = true
    compact.writesSyncTable = false
    var long = MovieBuilder([compact], tables: .behind)
    long.usesLongOffsets = true
    long.dataSizeMark = 1
    var hevc = MovieBuilder.Track.pictures([60, 9, 9], keyEvery: 3)
    hevc.codec = "hvc1"
    hevc.entryBoxes = MediaBytes.box("hvcC", [UInt8](repeating: 0, count: 21) + [3])
    hevc.samples[0].compositionOffset = 3000
    var sequence = MovieBuilder([.pictures([50, 5])])
    sequence.brand = "avis"
    return [
      MovieBuilder([reordered, .sound([Int](repeating: 7, count: 12))]).file,
      MovieBuilder([reordered, .sound([7, 7, 7])], tables: .behind).file, long.file,
      MovieBuilder([hevc]).file, sequence.file,
    ]
  }()

  private static let others: [[UInt8]] = [
    ImageTests.jpeg(frame: 0xc2, scans: 3).0,
    ImageTests.png(
      ImageTests.chunk("acTL", MediaBytes.number(2) + MediaBytes.number(0)) + ImageTests.frame(100)
        + ImageTests.chunk("IDAT", [1, 2, 3]) + ImageTests.frame(50)
        + ImageTests.chunk("fdAT", [0, 0, 0, 1, 9])),
    InterlacedTests.png([[0x78, 1] + InterlacedTests.stored(79)]),
    ImageTests.gif, ImageTests.animatedWebP,
    ItemImageTests.file(
      items: ["grid", "av01"],
      properties: [
        [ItemImageTests.size(300, 200), ItemImageTests.turn(1)], [ItemImageTests.alpha],
      ], references: [("dimg", 1, [2]), ("auxl", 2, [1])]),
    MatroskaTests.file(knowsSizes: true, usesGroups: true),
    MatroskaTests.file(knowsSizes: false, usesGroups: false),
    FragmentTests.small(.fragment), FragmentTests.small(.implicit),
    MediaBytes.text("<?xml version='1.0'?><svg width='3' height='4' viewBox='0 0 3 4'>"),
    SoundTests.wav(seconds: 2), SoundTests.flac, SoundTests.ogg,
    MediaBytes.frames("ff fb 90 00", bytes: 417, count: 5),
    MediaBytes.frames("ff f1 50 80 03 00 00", bytes: 24, count: 5),
  ]
}
