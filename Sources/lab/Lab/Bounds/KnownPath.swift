import Prefetch

extension Simulation.Setup {
  /// The same person and link, for clients that know where the person goes: the feed has what they come to, in the
  /// order in which they come to it, on as many pages. They look at each item when, and for as long as, they do in the
  /// feed itself.
  ///
  /// What a strategy gets here can be had by knowing the person, since it has it, over the same link with its round trips
  /// and its loss; whether another one gets more, or one that does not know the person, it does not say.
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
