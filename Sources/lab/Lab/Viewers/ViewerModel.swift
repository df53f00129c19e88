import Feed
import Prefetch

/// A model of how people go through a feed.
package struct ViewerModel: Hashable, Sendable {
  /// The time for which people look at an item.
  package enum Dwell: Hashable, Sendable {
    /// The same time for each item.
    case fixed(milliseconds: Int)
    /// A time from this distribution, in milliseconds, for each item.
    case drawn(Quantiles)
    /// For clips, a time from their own curves, or else from this model; for other items, a time from this
    /// distribution, in milliseconds.
    case watched(WatchModel, other: Quantiles)
    /// For clips, a time from their own curves, or to their ends; for other items, a time from this
    /// distribution, in milliseconds.
    case retained(other: Quantiles)
  }

  /// The time for which they look at an item.
  package var dwell: Dwell
  /// The maximum wait for an item that is not loaded, on top of the time for which they then look at it;
  /// `nil` for people who do not wait and go on in time, whether or not it is loaded.
  package var patienceMilliseconds: Int?
  /// Whether they look at a clip until it has played for their time: while it stands they wait, as long as
  /// for an item that is not loaded. Others go on in time.
  var watchesPlayback = false
  /// The number of items in a thousand after which they fling.
  package var flingPermille = 0
  /// The number of items that a fling goes.
  package var flingItems = Quantiles(always: 8)
  /// The time for each item that a fling passes.
  package var flingItemMilliseconds = 80
  /// The number of items in a thousand after which they turn round.
  package var turnPermille = 0
  /// The number of items that they go back before they turn again.
  package var turnItems = Quantiles(always: 3)

  /// The recorded looks of a person, one after another; with these, nothing is drawn. After the last, the
  /// first follows.
  package var looks: [Look] = []

  /// One recorded look of a person.
  package struct Look: Hashable, Sendable {
    /// The index of the item in the feed.
    package let index: Int
    /// The duration of the look, whether or not the item was loaded.
    package let dwellMilliseconds: Int
    /// The duration of the way there.
    package let travelMilliseconds: Int

    /// Creates a look at an item.
    package init(index: Int, dwellMilliseconds: Int, travelMilliseconds: Int = 0) {
      self.index = index
      self.dwellMilliseconds = dwellMilliseconds
      self.travelMilliseconds = travelMilliseconds
    }
  }

  /// Whether their actions are drawn, so that other viewers act differently.
  var isDrawn: Bool {
    guard looks.isEmpty else { return false }
    if flingPermille > 0 || turnPermille > 0 { return true }
    if case .fixed = dwell { return false }
    return true
  }

  /// The recorded person: the same looks, in time.
  package static func replaying(_ looks: [Look]) -> ViewerModel {
    var model = ViewerModel.steady
    model.looks = looks
    return model
  }

  /// Creates people who look at each item for this time and go down.
  package init(dwell: Dwell) { self.dwell = dwell }

  /// The article's viewer: one item a second, down, whether or not it is loaded.
  package static let steady = ViewerModel(dwell: .fixed(milliseconds: 1_000))

  /// People who watch clips as measured, wait up to ten seconds, and sometimes fling and turn round. The
  /// rates of these are assumptions, not measurements.
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

  /// People of the short-video challenge of ACM MM 2022: like `retained`, but a standing clip delays them.
  package static var challenge: ViewerModel {
    var model = retained
    model.watchesPlayback = true
    return model
  }

  /// The time for which people look at a picture: an assumption.
  private static let imageMilliseconds = Quantiles([
    .init(permille: 0, value: 300), .init(permille: 500, value: 1_500),
    .init(permille: 900, value: 4_000), .init(permille: 1_000, value: 10_000),
  ])!
}

/// One item that a viewer looks at.
package struct ViewerStep: Hashable, Sendable {
  /// The index of the item in the feed.
  package let index: Int
  /// The number of items by which the list moved: more than one in a fling, negative upwards, 0 at first.
  package let distance: Int
  /// The duration of the way: 0 except for flings.
  package let travelMilliseconds: Int
  /// The time for which the viewer looks at it.
  package let dwellMilliseconds: Int
}

/// One person who goes through a feed: the same steps for the same random numbers, whatever is loaded.
package struct Viewer: Sendable {
  private let model: ViewerModel
  private var random: LabRandom
  private var index = 0
  private var isFirst = true
  /// The remaining number of items upwards.
  private var upwards = 0
  /// The number of recorded looks that are over.
  private var looked = 0

  /// Creates a person at the top of the feed.
  package init(_ model: ViewerModel, random: LabRandom) {
    self.model = model
    self.random = random
  }

  /// The next item that the viewer looks at.
  ///
  /// - Parameters:
  ///   - count: the number of items in the feed, at least one. After the last item, the viewer returns to the
  ///     top.
  ///   - duration: returns the duration of the item at an index in milliseconds; `nil` if nothing plays.
  ///   - survival: returns the watch curve of the item at an index; empty if it has none.
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
      // One number is drawn either way, so that a curve changes no other item's numbers.
      if !survival.isEmpty { return survival.draw(&random) }
      return watch.drawMilliseconds(of: duration, &random)
    case .retained(let other):
      guard let duration else { return max(0, other.draw(&random)) }
      return survival.isEmpty ? duration : survival.draw(&random)
    }
  }
}
