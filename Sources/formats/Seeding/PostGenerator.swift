import Feed

/// Generates posts: the same ones for the same count and seed, on every machine.
///
/// Every type of post occurs, with sizes and durations typical of media feeds; some posts have equal times,
/// and some lack optional fields.
package struct PostGenerator: Sequence, IteratorProtocol, Sendable {
  private let count: Int
  private var random: SplitMix64
  private var made = 0

  /// Creates a generator of `count` posts.
  package init(count: Int, seed: UInt64) {
    self.count = count
    random = SplitMix64(state: seed)
  }

  private static let words = """
    amber anchor autumn balcony barley beacon bicycle blossom bridge bronze canyon cedar chalk cliff \
    cloud copper coral cotton crane dawn delta desert dune ember fable falcon feather fern forest \
    garden glacier granite harbour hazel hollow island ivory jasmine juniper kettle lagoon lantern \
    lemon lichen linen lynx maple marble meadow mirror mosaic moss nectar oasis olive onyx orchard \
    otter pebble pepper pine plum pollen prairie quartz quill raven reef ribbon river saffron sail \
    sandal shadow silver slate sparrow spruce summit swallow thistle thunder timber tulip valley \
    velvet violet walnut willow winter yarrow
    """.split(separator: " ").map(String.init)

  /// 2024-01-01T00:00:00Z
  private static let start: Int64 = 1_704_067_200
  private static let secondsApart = 97

  /// Returns the next post with its places, `g1` first; `nil` after the last one.
  package mutating func next() -> SeedRecord? {
    guard made < count else { return nil }
    made += 1
    let type = type()
    // Sometimes rounded down to a quarter of an hour, so that several posts have the same time.
    var seconds = Self.start + Int64(made * Self.secondsApart)
    if chance(0.05) { seconds -= seconds % 900 }
    let post = Post(
      id: "g\(made)", type: type,
      title: chance(0.98) ? sentence(3...9) : nil,
      text: type == .text || chance(0.1) ? sentence(12...60) : nil,
      publishedAt: chance(0.97) ? Timestamp(microseconds: seconds * 1_000_000) : nil,
      author: chance(0.9) ? author() : nil,
      url: "https://posts.example/g\(made)",
      thumbnail: chance(0.6) ? "https://media.example/g\(made)/thumbnail.webp" : nil,
      tags: (0..<number(0...3)).map { _ in word() }.uniqued,
      counters: counters(),
      media: media(of: type))
    return .post(post, placements: placements(of: type))
  }

  private mutating func placements(of type: PostType) -> [Placement] {
    var placements = [Placement(feed: "newest")]
    // A rank from the whole range, so that some ranks are equal and they arrive unordered.
    if chance(0.5) { placements.append(Placement(feed: "featured", rank: number(1...count))) }
    if type == .video { placements.append(Placement(feed: "videos")) }
    return placements
  }

  private mutating func type() -> PostType {
    switch number(0...99) {
    case ..<55: .image
    case ..<80: .video
    case ..<88: .carousel
    case ..<92: .webapp
    case ..<95: .ad
    case ..<98: .text
    default: .audio
    }
  }

  private mutating func media(of type: PostType) -> [Media] {
    switch type {
    case .image, .ad: [file(.image, 0)]
    case .video: [file(.video, 0)]
    case .audio: [file(.audio, 0)]
    case .carousel: (0..<number(2...8)).map { file(chance(0.2) ? .video : .image, $0) }
    case .webapp, .text: []
    }
  }

  private mutating func file(_ kind: MediaKind, _ index: Int) -> Media {
    let isTall = chance(0.5)
    let (long, short) = chance(0.5) ? (1280, 720) : (1080, 1080)
    let isKnown = chance(0.7)
    let milliseconds = kind.plays ? number(3_000...60_000) : nil
    let bytes = milliseconds.map { $0 * number(60...300) } ?? number(20_000...900_000)
    let (ending, mimeType, codec): (String, String, String?) =
      switch kind {
      case .image: ("webp", "image/webp", nil)
      case .video: ("mp4", "video/mp4", "h264")
      case .audio: ("mp3", "audio/mpeg", "mp3")
      }
    let isSeen = isKnown && kind != .audio
    return Media(
      kind: kind, url: "https://media.example/g\(made)/\(index).\(ending)",
      mimeType: isKnown ? mimeType : nil, codec: isKnown ? codec : nil,
      width: isSeen ? (isTall ? short : long) : nil,
      height: isSeen ? (isTall ? long : short) : nil,
      durationMilliseconds: chance(0.9) ? milliseconds : nil,
      bytes: isKnown ? bytes : nil)
  }

  private mutating func counters() -> [Counter] {
    guard chance(0.95) else { return [] }
    let views = number(0...1_000_000)
    return [
      Counter("views", views), Counter("likes", views / number(5...50)),
      Counter("comments", views / number(100...900)),
    ]
  }

  private mutating func author() -> Author {
    let index = number(1...Swift.max(1, count / 20))
    return Author(id: "a\(index)", name: index % 7 == 0 ? nil : "Author \(index)")
  }

  private mutating func sentence(_ length: ClosedRange<Int>) -> String {
    let text = (0..<number(length)).map { _ in word() }.joined(separator: " ")
    return text.prefix(1).uppercased() + text.dropFirst()
  }

  private mutating func word() -> String { Self.words[number(0...Self.words.count - 1)] }

  private mutating func number(_ range: ClosedRange<Int>) -> Int {
    Int.random(in: range, using: &random)
  }

  private mutating func chance(_ share: Double) -> Bool {
    Double(random.next() >> 11) * 0x1p-53 < share
  }
}

extension [String] {
  fileprivate var uniqued: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}

/// A small random number generator with a seed: Steele, Lea, Flood, "Fast Splittable Pseudorandom
/// Number Generators", 2014.
struct SplitMix64: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}
