import Feed
import Prefetch

/// How people go through a feed.
package struct ViewerModel: Hashable, Sendable {
  /// How long they look at an item.
  package enum Dwell: Hashable, Sendable {
    /// So long at each.
    case fixed(milliseconds: Int)
    /// As long as this says, in milliseconds, at each.
    case drawn(Quantiles)
    /// At clips as long as their own curves say, or else this model; at all else as long as this says, in
    /// milliseconds.
    case watched(WatchModel, other: Quantiles)
    /// At clips as long as their own curves say, or to their ends; at all else as long as this says, in milliseconds.
    case retained(other: Quantiles)
  }

  /// How long they look at an item.
  package var dwell: Dwell
  /// How long they wait for an item that is not there before they go on, on top of the time that they then
  /// look at it; `nil` for people who do not care and go on in time, whether it is there or not.
  package var patienceMilliseconds: Int?
  /// Whether they look at a clip until so much of it has played: while it stands they wait, as long as for an item that
  /// is not there. Others go on in time.
  var watchesPlayback = false
  /// After how many of a thousand items they fling.
  package var flingPermille = 0
  /// How many items a fling goes.
  package var flingItems = Quantiles(always: 8)
  /// How long each item takes that a fling passes.
  package var flingItemMilliseconds = 80
  /// After how many of a thousand items they turn round.
  package var turnPermille = 0
  /// How many items they go back before they turn again.
  package var turnItems = Quantiles(always: 3)

  /// What somebody looked at, one item after the other: then nothing is drawn. At its end it begins again.
  package var looks: [Look] = []

  /// One look of somebody who was watched.
  package struct Look: Hashable, Sendable {
    /// At which item, from the feed's first.
    package let index: Int
    /// For how long, whether it was there or not.
    package let dwellMilliseconds: Int
    /// How long the way there took.
    package let travelMilliseconds: Int

    /// A look at an item.
    package init(index: Int, dwellMilliseconds: Int, travelMilliseconds: Int = 0) {
      self.index = index
      self.dwellMilliseconds = dwellMilliseconds
      self.travelMilliseconds = travelMilliseconds
    }
  }

  /// Whether what they do is drawn, so that others do something else.
  var isDrawn: Bool {
    guard looks.isEmpty else { return false }
    if flingPermille > 0 || turnPermille > 0 { return true }
    if case .fixed = dwell { return false }
    return true
  }

  /// The one person who was watched: the same looks, in time.
  package static func replaying(_ looks: [Look]) -> ViewerModel {
    var model = ViewerModel.steady
    model.looks = looks
    return model
  }

  /// People who look so long at each item and go down.
  package init(dwell: Dwell) { self.dwell = dwell }

  /// The article's: one item a second, down, whatever is there.
  package static let steady = ViewerModel(dwell: .fixed(milliseconds: 1_000))

  /// People who watch clips as was measured, wait up to ten seconds, fling and turn round now and then. How
  /// often they do is an assumption, not a measurement.
  package static func watching(_ watch: WatchModel) -> ViewerModel {
    var model = ViewerModel(
      dwell: .watched(watch, other: imageMilliseconds))
    model.patienceMilliseconds = 10_000
    model.flingPermille = 30
    model.turnPermille = 40
    return model
  }

  /// People who watch each clip as its own curve says, go down, and wait up to ten seconds.
  package static var retained: ViewerModel {
    var model = ViewerModel(dwell: .retained(other: imageMilliseconds))
    model.patienceMilliseconds = 10_000
    return model
  }

  /// People of the short-video challenge of ACM MM 2022: the same, and a clip that stands makes them later.
  package static var challenge: ViewerModel {
    var model = retained
    model.watchesPlayback = true
    return model
  }

  /// How long people look at a picture: an assumption.
  private static let imageMilliseconds = Quantiles([
    .init(permille: 0, value: 300), .init(permille: 500, value: 1_500),
    .init(permille: 900, value: 4_000), .init(permille: 1_000, value: 10_000),
  ])!
}

/// One item that a viewer looks at.
package struct ViewerStep: Hashable, Sendable {
  /// Which one, from the feed's first.
  package let index: Int
  /// How many items the list went to get there: more than one in a fling, below zero upwards, 0 at first.
  package let distance: Int
  /// How long the way took: 0 but for flings.
  package let travelMilliseconds: Int
  /// How long the viewer looks at it.
  package let dwellMilliseconds: Int
}

/// One person who goes through a feed: the same steps for the same random numbers, whatever is loaded.
package struct Viewer: Sendable {
  private let model: ViewerModel
  private var random: LabRandom
  private var index = 0
  private var isFirst = true
  /// How many items upwards are left.
  private var upwards = 0
  /// How many looks of somebody who was watched are over.
  private var looked = 0

  /// A person at the top of the feed.
  package init(_ model: ViewerModel, random: LabRandom) {
    self.model = model
    self.random = random
  }

  /// The next item that the viewer looks at.
  ///
  /// - Parameters:
  ///   - count: how many items the feed has, at least one; at its end they go back to its top.
  ///   - duration: of the item at an index, how long it plays, in milliseconds; `nil` where nothing does.
  ///   - survival: its own watch curve, empty where it has none.
  package mutating func next(
    count: Int, survival: (Int) -> [WatchPoint] = { _ in [] }, duration: (Int) -> Int?
  ) -> ViewerStep {
    let from = index
    if !model.looks.isEmpty {
      let look = model.looks[looked % model.looks.count]
      looked += 1
      index = min(max(look.index, 0), count - 1)
      return ViewerStep(
        index: index, distance: index - from, travelMilliseconds: look.travelMilliseconds,
        dwellMilliseconds: max(0, look.dwellMilliseconds))
    }
    let distance = isFirst ? 0 : nextDistance(count: count)
    isFirst = false
    index += distance
    let passed = max(0, abs(index - from) - 1)
    return ViewerStep(
      index: index, distance: index - from,
      travelMilliseconds: distance == 0 ? 0 : passed * model.flingItemMilliseconds,
      dwellMilliseconds: dwell(duration(index), survival(index)))
  }

  private mutating func nextDistance(count: Int) -> Int {
    if index == count - 1 {
      upwards = 0
      return -index
    }
    if upwards > 0, index > 0 {
      upwards -= 1
      return -1
    }
    upwards = 0
    if index > 0, random.chance(permille: model.turnPermille) {
      upwards = max(1, model.turnItems.draw(&random)) - 1
      return -1
    }
    if random.chance(permille: model.flingPermille) {
      return min(max(2, model.flingItems.draw(&random)), count - 1 - index)
    }
    return 1
  }

  private mutating func dwell(_ duration: Int?, _ survival: [WatchPoint]) -> Int {
    switch model.dwell {
    case .fixed(let milliseconds): return milliseconds
    case .drawn(let quantiles): return max(0, quantiles.draw(&random))
    case .watched(let watch, let other):
      guard let duration else { return max(0, other.draw(&random)) }
      // One number either way, so that a curve changes no other item's.
      if !survival.isEmpty { return survival.draw(&random) }
      return watch.drawMilliseconds(of: duration, &random)
    case .retained(let other):
      guard let duration else { return max(0, other.draw(&random)) }
      return survival.isEmpty ? duration : survival.draw(&random)
    }
  }
}
