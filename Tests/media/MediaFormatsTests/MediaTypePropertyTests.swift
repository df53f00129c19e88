import MediaFormats
import TestSupport
import Testing

struct MediaTypePropertyTests {
  private static let rounds = 20_000
  private static let names = [
    "a", "a.jpg", "a.svg", "a.html", "a.js", "a.mp4", "a.m4a", "a.mov", "a.mka", "a.weba", "a.ogv",
    "a.oga", "a.aac", "a.flac",
  ]
  private static let samples = MediaSample.passive + MediaSample.unknown

  /// All the types that may be sent for a browser to show: none of them runs anything.
  private static let passiveTypes = Set(MediaSample.passive.map(\.type)).union([
    "image/heif-sequence"
  ])

  @Test(arguments: TestRandom.seeds) func `no bytes crash it or make an active type passive`(
    seed: UInt64
  ) {
    var random = TestRandom(seed)
    for _ in 0..<Self.rounds {
      let head = mutated(random.one(of: Self.samples).head, &random)
      let type = MediaType(head: head, name: random.one(of: Self.names))
      #expect(
        type.isPassive ? Self.passiveTypes.contains(type.value) : type == .unknown,
        "\(TestRandom.replay) \(head.prefix(40))")
    }
  }

  @Test(arguments: TestRandom.seeds)
  func `a name never decides whether a file is passive, nor its family`(seed: UInt64) {
    let families: [Set<String>] = [
      ["video/mp4", "audio/mp4"], ["video/mp4", "video/quicktime"], ["video/webm", "audio/webm"],
      ["video/matroska", "audio/matroska"], ["audio/ogg", "video/ogg", "application/ogg"],
      ["audio/mpeg", "audio/aac", "audio/flac"],
    ]
    var random = TestRandom(seed)
    for _ in 0..<Self.rounds / 10 {
      let head = mutated(random.one(of: Self.samples).head, &random)
      let types = Set(Self.names.map { MediaType(head: head, name: $0).value })
      #expect(
        types.count == 1 || families.contains { types.isSubset(of: $0) },
        "\(TestRandom.replay) \(types) \(head.prefix(40))")
    }
  }

  @Test(arguments: TestRandom.seeds) func `nothing that begins like markup is passive`(seed: UInt64)
  {
    var random = TestRandom(seed)
    let marks: [[UInt8]] = [[], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]]
    for _ in 0..<Self.rounds {
      let spaces = (0..<random.number(0...3)).map { _ in
        random.one(of: [0x09, 0x0a, 0x0c, 0x0d, 0x20] as [UInt8])
      }
      // In place of the first byte as well: a box's size may begin with any.
      let sample = random.one(of: Self.samples).head
      let rest = random.chance(50) ? sample : Array(sample.dropFirst())
      let head = random.one(of: marks) + spaces + MediaBytes.text("<") + mutated(rest, &random)
      let type = MediaType(head: head, name: random.one(of: Self.names))
      #expect(!type.isPassive, "\(TestRandom.replay) \(head.prefix(40))")
    }
  }

  @Test(arguments: MediaSample.passive)
  func `a file that is still being written has its type or none`(_ sample: MediaSample) {
    for count in 0...sample.head.count {
      let type = MediaType(head: Array(sample.head.prefix(count)), name: sample.name)
      let family = sample.type.prefix { $0 != "/" }
      #expect(
        !type.isPassive || type.value.hasPrefix(family) || type.value.hasSuffix("/ogg"),
        "\(count) bytes are \(type.value)")
    }
  }

  private func mutated(_ head: [UInt8], _ random: inout TestRandom) -> [UInt8] {
    var head = head
    for _ in 0..<random.number(0...4) {
      let index = random.number(0...head.count)
      switch random.number(0...4) {
      case 0 where index < head.count: head[index] = UInt8(random.number(0...255))
      case 1 where index < head.count: head[index] ^= 1 << UInt8(random.number(0...7))
      case 2 where index < head.count: head.remove(at: index)
      case 3: head.insert(random.one(of: [0, 0x3c, 0x7f, 0x80, 0xff] as [UInt8]), at: index)
      default: head.removeSubrange(index...)
      }
    }
    return head
  }
}
