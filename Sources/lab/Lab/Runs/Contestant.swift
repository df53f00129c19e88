import LinkModel
import Prefetch

/// A policy to measure, as a client has it.
package struct Contestant: Hashable, Sendable {
  /// The name in tables.
  package var name: String
  /// The strategy, and the costs of items.
  package var policy: Policy
  /// The limits of the engine.
  package var settings: PrefetchSettings
  /// Whether a server states the size of files and how they start; otherwise the policy's guesses apply.
  package var isHinted: Bool
  /// Whether the server states how long people watch items, as far as it has learned that.
  package var isLearned = true
  /// Whether its device is always under stress: hot, or short of power.
  package var isStressed = false

  /// Creates a client with this policy.
  package init(
    name: String, policy: Policy, settings: PrefetchSettings = PrefetchSettings(),
    isHinted: Bool = true
  ) {
    self.name = name
    self.policy = policy
    self.settings = settings
    self.isHinted = isHinted
  }

  /// Creates a client with this strategy, and with the articles' costs of items.
  package init(_ strategy: Policy.Strategy, isHinted: Bool = true) {
    self.init(
      name: strategy.title, policy: Policy(name: strategy.name, strategy: strategy),
      isHinted: isHinted)
  }
}

extension Contestant {
  /// The properties that decide its results in a feed: if they are equal, runs with the same random numbers
  /// are equal.
  struct Conduct: Hashable, Sendable {
    /// The contestant without its name, and without weights if `room` has them.
    let contestant: Contestant
    /// For the weighted strategy, the number of clips that may load beside each number of pictures.
    let room: [Int]
  }

  /// The conduct in a feed.
  ///
  /// The weighted strategy loads items as long as their weights add up to `maxCost`. For pictures and clips,
  /// the effect depends only on how many of each it allows together: a cost of 10 with a clip at 4 and a
  /// picture at 2 is equal to one of 5 with 2 and 1. Of the 125 settings of a sweep, 50 differ.
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
  /// Whether the weights of pictures and clips determine those of all items.
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
  /// The name and the parameters: `weighted leading=5 maxCost=5`.
  package var title: String {
    ([name] + parameters.map { "\($0.name)=\($0.value)" }).joined(separator: " ")
  }
}

/// A network to measure on.
package struct LabNetwork: Hashable, Sendable {
  /// The name in tables.
  package let name: String
  /// The conditions over time.
  package internal(set) var schedule: LinkSchedule
  /// The settings of connections and requests.
  package var link: LinkSettings
  /// The conditions that the client assumes before it has measured; `nil` if nothing is known.
  let expected: LinkConditions?
  /// Whether the schedule plays from its beginning, and not from a moment that the run draws.
  var beginsAtTop = false

  /// Whether it was recorded, and is not a profile.
  var isRecorded: Bool { expected == nil }

  /// Creates the network of a profile; the client knows which one it is.
  package init(_ profile: NetworkProfile, link: LinkSettings = LinkSettings()) {
    name = profile.name
    schedule = LinkSchedule(profile)
    self.link = link
    expected = LinkConditions(profile)
  }

  /// Creates the network of a profile as `ShapedLink` shapes it. The client library knows nothing about it
  /// before it has measured. There is no TLS, and windows do not shrink while idle.
  package init(shaped profile: NetworkProfile) {
    name = profile.name
    schedule = LinkSchedule(profile)
    link = LinkSettings()
    link.connections = 32
    link.setupRoundTrips = 1
    link.thinkMilliseconds = 1
    // The size of a request of `SocketTransport` (127 to 180 bytes), and of the head of an answer of
    // `/media/`.
    link.requestBytes = 160
    link.responseHeadBytes = 530
    link.idleRestartMilliseconds = 1_000_000_000
    expected = nil
  }

  /// Creates a recorded network, which plays from a moment that the run draws.
  package init(name: String, trace: LinkSchedule, link: LinkSettings = LinkSettings()) {
    self.name = name
    schedule = trace
    self.link = link
    expected = nil
  }
}

extension LabNetwork {
  /// Networks like those of the challenge of ACM MM 2022: about 3 to 5, 1 to 2 and 1 Mbit/s, with round trips
  /// of 80 ms, and a client that knows nothing about them. The levels, and how the bandwidth varies around
  /// them, are assumptions.
  package static func challenge(seed: UInt64) -> [LabNetwork] {
    let random = LabRandom(seed: seed)
    return [("high", 3_000..<5_000), ("medium", 960..<1_960), ("low", 940..<1_240)]
      .enumerated().map { index, kind in
        LabNetwork(name: kind.0, trace: .varying(kind.1, random.split(UInt64(index))))
      }
  }
}

extension LinkSchedule {
  /// Half an hour in steps of a second: a level lasts for some time, and the bandwidth varies around it
  /// within seconds. Of a hundred seconds, one has a quarter of the bandwidth.
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
    // The steps are within the limits.
    return try! LinkSchedule(loop: steps)
  }
}
