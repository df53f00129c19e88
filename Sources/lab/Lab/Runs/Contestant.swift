import LinkModel
import Prefetch

/// What is measured: a policy, as a client has it.
package struct Contestant: Hashable, Sendable {
  /// What tables call it.
  package var name: String
  /// Its strategy, and what items cost by it.
  package var policy: Policy
  /// What bounds the engine.
  package var settings: PrefetchSettings
  /// Whether a server tells how large files are and how they start; else the policy's guesses apply.
  package var isHinted: Bool
  /// Whether it tells how long people watch items, as far as it has learned that.
  package var isLearned = true
  /// Whether its device is under stress all the time: hot, or short of power.
  package var isStressed = false

  /// A client of this policy.
  package init(
    name: String, policy: Policy, settings: PrefetchSettings = PrefetchSettings(),
    isHinted: Bool = true
  ) {
    self.name = name
    self.policy = policy
    self.settings = settings
    self.isHinted = isHinted
  }

  /// A client of this strategy, with the articles' values for what items cost.
  package init(_ strategy: Policy.Strategy, isHinted: Bool = true) {
    self.init(
      name: strategy.title, policy: Policy(name: strategy.name, strategy: strategy),
      isHinted: isHinted)
  }
}

extension Contestant {
  /// What decides how it does in a feed: where that is the same, runs with the same random numbers are the same.
  struct Conduct: Hashable, Sendable {
    /// Without its name, and without weights where `room` has them.
    let contestant: Contestant
    /// Of the weighted strategy: how many clips may load beside a number of pictures.
    let room: [Int]
  }

  /// Its conduct in a feed.
  ///
  /// The weighted strategy loads items as long as their weights add up to `maxCost`. Of pictures and clips that depends only on
  /// how many of each it lets through together: a cost of 10 with a clip at 4 and a picture at 2 is one of 5 with 2 and 1. Of
  /// the 125 settings of a sweep 50 differ.
  func conduct(in feed: LabFeed) -> Conduct {
    var same = self
    (same.name, same.policy.name) = ("", "")
    let weighted = Policy.Strategy.weighted(leading: policy.leading, maxCost: policy.maxCost)
    guard policy.strategy == weighted, feed.hasPicturesAndClipsOnly else {
      return Conduct(contestant: same, room: [])
    }
    same.policy.strategy = .weighted(leading: policy.leading, maxCost: 0)
    (same.policy.imageWeight, same.policy.videoWeight) = (0, 0)
    let most = policy.leading * max(policy.carouselVisibleParts, 1)
    let room = (0...most).prefix { $0 * policy.imageWeight <= policy.maxCost }.map { images in
      let left = policy.maxCost - images * policy.imageWeight
      return min(most - images, policy.videoWeight > 0 ? left / policy.videoWeight : most)
    }
    return Conduct(contestant: same, room: room)
  }
}

extension LabFeed {
  /// Whether the weights of pictures and clips make those of all items.
  fileprivate var hasPicturesAndClipsOnly: Bool {
    items.allSatisfy { item in
      switch item.type {
      case .image, .video, .audio, .carousel: true
      case .text, .webapp, .ad: item.media.isEmpty
      }
    }
  }
}

extension Policy.Strategy {
  /// Its name and its parameters: `weighted leading=5 maxCost=5`.
  package var title: String {
    ([name] + parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
  }
}

/// A network to measure on.
package struct LabNetwork: Hashable, Sendable {
  /// What tables call it.
  package let name: String
  /// What it is like.
  package internal(set) var schedule: LinkSchedule
  /// How requests go over it.
  package var link: LinkSettings
  /// What the client takes for granted before it has measured; `nil` where nothing is known.
  let expected: LinkConditions?
  /// Its schedule plays from its beginning, and not from a moment that the run draws.
  var beginsAtTop = false

  /// Whether it was recorded, and is no profile.
  var isRecorded: Bool { expected == nil }

  /// A profile's network: the client knows which one it is.
  package init(_ profile: NetworkProfile, link: LinkSettings = LinkSettings()) {
    name = profile.name
    schedule = LinkSchedule(profile)
    self.link = link
    expected = LinkConditions(profile)
  }

  /// A profile's network as `ShapedLink` makes it, of which the client library knows nothing before it has
  /// measured: no TLS, windows that do not shrink at rest.
  package init(shaped profile: NetworkProfile) {
    name = profile.name
    schedule = LinkSchedule(profile)
    link = LinkSettings()
    link.connections = 32
    link.setupRoundTrips = 1
    link.thinkMilliseconds = 1
    // What `SocketTransport` asks with (127 to 180 bytes), and the head of what `/media/` answers.
    link.requestBytes = 160
    link.responseHeadBytes = 530
    link.idleRestartMilliseconds = 1_000_000_000
    expected = nil
  }

  /// A recorded network, played from a moment that the run draws.
  package init(name: String, trace: LinkSchedule, link: LinkSettings = LinkSettings()) {
    self.name = name
    schedule = trace
    self.link = link
    expected = nil
  }
}

extension LabNetwork {
  /// Networks like those of the challenge of ACM MM 2022: about 3 to 5, 1 to 2 and 1 Mbit/s, round trips of
  /// 80 ms, and a client that knows nothing of them. The levels and how the bandwidth varies about them are assumptions.
  package static func challenge(seed: UInt64) -> [LabNetwork] {
    let random = LabRandom(seed: seed)
    return [("high", 3_000..<5_000), ("medium", 960..<1_960), ("low", 940..<1_240)]
      .enumerated().map { index, kind in
        LabNetwork(name: kind.0, trace: .varying(kind.1, random.split(UInt64(index))))
      }
  }
}

extension LinkSchedule {
  /// Half an hour in seconds: a level for some time, and about it what varies within seconds; of a hundred seconds one
  /// brings a quarter of that.
  fileprivate static func varying(_ kbps: Range<Int>, _ random: LabRandom) -> LinkSchedule {
    var random = random
    var (steps, level, left, share): ([Step], Int, Int, Int) = ([], 0, 0, 1_000)
    for _ in 0..<1_800 {
      if left == 0 {
        level = kbps.lowerBound + random.number(below: kbps.count)
        left = 10 + random.number(below: 40)
      }
      left -= 1
      share = (share * 6 + 4 * (500 + random.number(below: 1_001))) / 10
      let rate = level * share / (random.chance(permille: 10) ? 4_000 : 1_000)
      steps.append(
        Step(
          durationMilliseconds: 1_000,
          conditions: LinkConditions(
            downlinkKbps: rate, uplinkKbps: rate, latencyMicroseconds: 40_000)))
    }
    // Its steps are in range.
    return try! LinkSchedule(loop: steps)
  }
}
