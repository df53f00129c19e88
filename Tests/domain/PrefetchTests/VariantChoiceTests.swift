import Feed
import Prefetch
import Testing

/// Which of a file and its variants is loaded.
struct VariantChoiceTests {
  /// Pictures of 320, 640 and 1280 pixels, and one of 2000.
  static let picture = ItemLoad(
    type: .image, hasPage: false,
    media: [
      MediaLoad(
        kind: .image, bytes: 900_000, width: 2_000,
        variants: [
          file(.image, 20_000, 320), file(.image, 60_000, 640), file(.image, 200_000, 1_280),
        ])
    ])

  /// Ten seconds at 300, 800 and 4000 kbit/s.
  static let video = ItemLoad(
    type: .video, hasPage: false,
    media: [
      MediaLoad(
        kind: .video, bytes: 5_000_000, durationMilliseconds: 10_000,
        timing: MediaTiming(headBytes: 90_000), width: 1_280,
        variants: [file(.video, 375_000, 426), file(.video, 1_000_000, 854)])
    ])

  static func file(_ kind: MediaKind, _ bytes: Int, _ width: Int?) -> MediaLoad {
    MediaLoad(
      kind: kind, bytes: bytes, durationMilliseconds: kind == .video ? 10_000 : nil,
      timing: kind == .video ? MediaTiming(headBytes: bytes / 50) : nil, width: width)
  }

  static let choices: [(item: ItemLoad, network: String, width: Int?, variant: Int?)] = [
    // Who does not say how wide it shows files gets the files.
    (picture, "wifi", nil, nil), (video, "edge", nil, nil),
    // The narrowest that is as wide, and of what is wider than all the widest.
    (picture, "wifi", 1, 0), (picture, "wifi", 320, 0), (picture, "wifi", 321, 1),
    (picture, "wifi", 1_280, 2), (picture, "wifi", 1_281, nil), (picture, "wifi", 9_999, nil),
    (video, "wifi", 426, 0), (video, "wifi", 427, 1), (video, "wifi", 1_000, nil),
    // In two seconds: on DSL 500 000 bytes, on 3G 195 000, on EDGE 60 000; half as wide at the least.
    (picture, "dsl", 2_000, 2), (picture, "3g", 1_280, 1), (picture, "3g", 2_000, 2),
    (picture, "edge", 640, 1), (picture, "edge", 641, 1), (picture, "edge", 1_280, 1),
    // Four fifths of the bandwidth: on DSL 1600 kbit/s, on 3G 624, and below that the least there is.
    (video, "dsl", 1_280, 1), (video, "3g", 1_280, 0), (video, "edge", 1_280, 0),
  ]

  @Test(arguments: choices)
  func `the choice fits the width and the network`(
    item: ItemLoad, network: String, width: Int?, variant: Int?
  ) {
    let network = Samples.network(network)
    let plan = Samples.plain5.plan(
      for: [item, item], on: network, bounds: PlanBounds(widthPixels: width), hasNextPage: false)
    #expect(plan.parts.map(\.variantIndex) == [variant, variant])
    let file = variant.map { item.media[0].variants[$0] } ?? item.media[0]
    #expect(plan.parts[0].range == 0..<file.bytes!)
    // The hint is what the plan would load.
    let hint = Samples.plain5.hint(for: item, on: network, widthPixels: width ?? 0)
    #expect(hint.entireBytes == file.bytes && hint.minimumBytes == plan.parts[1].bytes)
    #expect(item.hasVariants)
  }

  @Test func `of two of one width the lighter one is loaded`() {
    let gif = ItemLoad(
      type: .image, hasPage: false,
      media: [
        MediaLoad(
          kind: .image, bytes: 90_000, width: 200, variants: [Self.file(.image, 30_000, 200)])
      ])
    for width in [100, 200, 300] {
      let plan = Samples.plain5.plan(
        for: [gif], on: Samples.network("wifi"), bounds: PlanBounds(widthPixels: width),
        hasNextPage: false)
      #expect(plan.parts.map(\.variantIndex) == [0])
    }
  }

  @Test func `what is not known is no reason to choose`() {
    let unknown = ItemLoad(
      type: .video, hasPage: false,
      media: [
        MediaLoad(kind: .video, bytes: 9_000_000, variants: [Self.file(.video, 100, nil)])
      ])
    let plan = Samples.plain5.plan(
      for: [unknown], on: Samples.network("3g"), bounds: PlanBounds(widthPixels: 640),
      hasNextPage: false)
    // As wide as each other for all that is known: the lighter one.
    #expect(plan.parts.map(\.variantIndex) == [0])
    #expect(!Samples.knownVideo.hasVariants)
  }
}
