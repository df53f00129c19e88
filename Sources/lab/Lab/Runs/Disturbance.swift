import Feed
import LinkModel
import Prefetch

/// Something that a client is told wrongly, or that goes wrong, to measure how robust a strategy is.
package enum Disturbance: String, CaseIterable, Hashable, Sendable {
  /// The server states that clips start and play on with a fifth fewer bytes than they need; with a fifth
  /// more.
  case smallHeads = "small-heads"
  case largeHeads = "large-heads"
  /// The client measures a third of the bandwidth; three times the bandwidth.
  case lowBandwidth = "low-bandwidth"
  case highBandwidth = "high-bandwidth"
  /// The server states for each clip how long people watch another one.
  case otherRetention = "other-retention"
  /// Nothing passes for 20 seconds of every two minutes.
  case deadLink = "dead-link"
  /// The viewer flings after every item.
  case flings

  /// The percentage of the true bytes that a server states for an item's files.
  private var headPercent: Int {
    switch self {
    case .smallHeads: 80
    case .largeHeads: 120
    default: 100
    }
  }

  /// The bandwidth that a client measures.
  func measured(_ kilobitsPerSecond: Int) -> Int {
    switch self {
    case .lowBandwidth: max(1, kilobitsPerSecond / 3)
    case .highBandwidth: kilobitsPerSecond * 3
    default: kilobitsPerSecond
    }
  }

  /// The items as a server describes them.
  func told(_ items: [PrefetchItem]) -> [PrefetchItem] {
    if self == .otherRetention {
      let curves = items.map(\.survival)
      return items.indices.map { index in
        var item = items[index]
        item.survival = curves[(index + curves.count / 2 + 1) % curves.count]
        return item
      }
    }
    guard headPercent != 100 else { return items }
    return items.map { item in
      var item = item
      for media in item.media.indices {
        for file in item.media[media].files.indices {
          let load = item.media[media].files[file].load
          item.media[media].files[file].load.timing = load.timing.map {
            $0.scaled(percent: headPercent, within: load.bytes ?? .max)
          }
        }
      }
      return item
    }
  }
}

extension Experiment {
  /// The experiment with this disturbance.
  package func disturbed(by disturbance: Disturbance) -> Experiment {
    var experiment = self
    experiment.disturbance = disturbance
    switch disturbance {
    case .deadLink: experiment.networks = networks.map(\.interrupted)
    case .flings: (experiment.viewer.flingPermille, experiment.viewer.turnPermille) = (1_000, 0)
    default: break
    }
    return experiment
  }
}

extension LabNetwork {
  /// The network with nothing passing for 20 seconds of every two minutes.
  fileprivate var interrupted: LabNetwork {
    var network = self
    network.schedule = schedule.interrupted(
      everyMilliseconds: 120_000, forMilliseconds: 20_000)
    return network
  }
}

extension MediaTiming {
  /// The same with scaled numbers of bytes, at most the file's size.
  fileprivate func scaled(percent: Int, within bytes: Int) -> MediaTiming {
    guard isStartable else { return self }
    func scaled(_ number: Int) -> Int { min(number * percent / 100, bytes) }
    return MediaTiming(
      isStartable: true, headBytes: scaled(headBytes), neededRanges: neededRanges,
      curve: curve.map {
        // The size of the file is known.
        Point(milliseconds: $0.milliseconds, bytes: $0.bytes == bytes ? bytes : scaled($0.bytes))
      },
      lead: lead.map { Lead(kilobitsPerSecond: $0.kilobitsPerSecond, bytes: scaled($0.bytes)) })
  }
}
