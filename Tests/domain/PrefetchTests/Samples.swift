import Feed
import Prefetch
import TestSupport

/// Profiles and posts that the tests of this module share.
enum Samples {
  /// One of the articles' networks: those of Apple's Network Link Conditioner.
  static func network(_ name: String) -> NetworkProfile {
    NetworkProfile.usual.first { $0.name == name }!
  }

  static let plain5 = Policy(name: "plain-5", strategy: .plain(leading: 5))
  static let weighted5 = Policy(name: "weighted-5", strategy: .weighted(leading: 5, maxCost: 5))

  static func image(_ bytes: Int? = nil) -> Media {
    Media(kind: .image, url: "/i.webp", bytes: bytes)
  }

  static func video(_ bytes: Int? = nil, milliseconds: Int? = nil) -> Media {
    Media(kind: .video, url: "/v.mp4", durationMilliseconds: milliseconds, bytes: bytes)
  }

  static func post(_ type: PostType, _ media: [Media] = [], url: String? = nil) -> Post {
    Post(id: "p", type: type, url: url, media: media)
  }

  /// A video of 1 MB that plays from 50 000 bytes on, but on slow networks stalls with less than more.
  static let knownVideo = ItemLoad(
    type: .video, hasPage: false,
    media: [
      MediaLoad(
        kind: .video, bytes: 1_000_000, durationMilliseconds: 10_000,
        timing: MediaTiming(
          headBytes: 50_000, curve: [.init(milliseconds: 10_000, bytes: 1_000_000)],
          lead: [
            .init(kilobitsPerSecond: 500, bytes: 400_000),
            .init(kilobitsPerSecond: 1_000, bytes: 60_000),
          ]))
    ])

  /// The same with its `moov` behind everything else.
  static let unstartableVideo = ItemLoad(
    type: .video, hasPage: false,
    media: [
      MediaLoad(
        kind: .video, bytes: 1_000_000, durationMilliseconds: 10_000,
        timing: MediaTiming(
          isStartable: false, headBytes: 1_000_000,
          neededRanges: [0..<40_000, 990_000..<1_000_000]))
    ])

  static let imagePost = post(.image, [image(100_000)])
  static let videoPost = post(.video, [video(1_000_000)])

  /// Lighter files that show the same.
  static func variants(_ random: inout TestRandom, of media: MediaLoad) -> [MediaLoad] {
    guard let bytes = media.bytes, bytes > 3, random.once(in: 2) else { return [] }
    let sizes = (0..<random.number(1...3)).map { _ in random.number(1...bytes) }.sorted()
    return sizes.map { size in
      let timing = media.kind == .video ? MediaTiming.random(&random, bytes: size) : nil
      return MediaLoad(
        kind: media.kind, bytes: size, durationMilliseconds: media.durationMilliseconds,
        timing: timing, width: random.once(in: 5) ? nil : random.number(1...2_000))
    }
  }

  /// The posts with what is known of some of their files.
  static func load(_ post: Post, _ random: inout TestRandom) -> ItemLoad {
    var load = ItemLoad(post)
    for index in load.media.indices {
      let media = load.media[index]
      guard let bytes = media.bytes, random.once(in: 2) else { continue }
      load.media[index] = MediaLoad(
        kind: media.kind, bytes: bytes, durationMilliseconds: media.durationMilliseconds,
        timing: media.kind == .video ? MediaTiming.random(&random, bytes: bytes) : nil,
        width: random.number(1...2_000), variants: variants(&random, of: media))
    }
    return load
  }

  static func random(_ random: inout TestRandom) -> Post {
    func bytes(_ most: Int) -> Int? {
      random.once(in: 3) ? nil : random.once(in: 10) ? 0 : random.number(1...most)
    }
    func media() -> Media {
      random.once(in: 2)
        ? image(bytes(900_000))
        : video(
          bytes(5_000_000), milliseconds: random.once(in: 2) ? nil : random.number(0...60_000))
    }
    return post(
      random.one(of: PostType.allCases), (0..<random.number(0...4)).map { _ in media() },
      url: random.once(in: 3) ? nil : "https://posts.example/p")
  }
}

extension Policy {
  /// What the post costs on 3G.
  func hint(for post: Post) -> Hint { hint(for: ItemLoad(post), on: Samples.network("3g")) }
}
