import Prefetch

extension Simulation.Setup {
  /// The same viewer and link, for clients that know the viewer's path: the feed has the items that the
  /// viewer comes to, in that order, on as many pages. The viewer looks at each item at the same time and for
  /// as long as in the feed itself.
  ///
  /// The result of a strategy here is possible with knowledge of the viewer, over the same link with its
  /// round trips and its loss. It does not show whether another strategy, or one without that knowledge,
  /// could do better.
  func alongPath(seed: UInt64) -> Simulation.Setup {
    var viewer = Viewer(viewer, random: LabRandom(seed: seed).split(1))
    var (items, places, looks, last) =
      ([LabFeed.Item](), [Int: Int](), [ViewerModel.Look](), 0)
    for _ in 0..<self.items {
      let step = viewer.next(
        count: feed.items.count, survival: { feed.items[$0].survival }
      ) { feed.items[$0].durationMilliseconds }
      let place = places[step.index] ?? items.count
      if place == items.count {
        places[step.index] = place
        items.append(feed.items[step.index])
      }
      last = max(last, step.index)
      looks.append(
        ViewerModel.Look(
          index: place, dwellMilliseconds: step.dwellMilliseconds,
          travelMilliseconds: step.travelMilliseconds))
    }
    guard !items.isEmpty else { return self }
    let pages = last / feed.pageItems + 1
    var known = self
    known.feed = LabFeed(items, pageItems: (items.count + pages - 1) / pages)
    known.viewer.looks = looks
    return known
  }
}
