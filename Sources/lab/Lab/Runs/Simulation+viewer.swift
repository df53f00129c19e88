import PostJSON
import Prefetch

/// The place of the viewer, and what is seen there.
extension Simulation {
  /// The index of the item that is active for the engine.
  var active: Int { engine.activeItem.flatMap { setup.feed.index(of: $0) } ?? 0 }

  /// Chooses the viewer's next item.
  mutating func setOut() {
    guard figures.viewedItems < setup.items else {
      phase = .finished
      return
    }
    let feed = setup.feed
    step = viewer.next(
      count: feed.items.count, survival: { feed.items[$0].survival }
    ) { feed.items[$0].durationMilliseconds }
    phase = .travelling
    guard step.travelMilliseconds > 0 else { return arrive() }
    arrivesMicroseconds = link.nowMicroseconds + step.travelMilliseconds * 1_000
    let id = feed.items[step.index].id
    explain("the viewer flings to \(id)")
    tell(
      .scrolled(
        milliitemsPerSecond: step.distance * 1_000_000 / step.travelMilliseconds,
        stopDistance: step.index - active))
  }

  /// Whether the item that the viewer leaves was a clip that lost time.
  private var isDelayed: Bool {
    figures.delayMilliseconds > delayedMilliseconds
      && setup.feed.items[step.index].durationMilliseconds != nil
  }

  /// Handles the viewer's arrival where the item is, or will be.
  mutating func arrive() {
    let isNew = phase != .atEnd
    if isNew {
      waitsSinceMicroseconds = link.nowMicroseconds
      isShown = false
      delayedMilliseconds = figures.delayMilliseconds
      figures.viewedItems += 1
      if step.travelMilliseconds > 0 { tell(.scrolled(milliitemsPerSecond: 0, stopDistance: nil)) }
    }
    let item = setup.feed.items[step.index]
    guard listed.contains(step.index) else {
      if isNew {
        figures.pageLoaders += 1
        noteLook(isReady: false)
        explain("loader: the page of \(item.id) is not loaded")
      }
      phase = .atEnd
      let end = step.index < listed.lowerBound ? listed.lowerBound : listed.upperBound - 1
      if active != end { tell(.activeChanged(setup.feed.items[end].id)) }
      return
    }
    for transfer in transfers where transfer.item == step.index { bring(transfer.id) }
    listedSinceMicroseconds = link.nowMicroseconds
    let isThere = isThere(step.index)
    if isNew { noteLook(isReady: isThere) }
    timeline?.look(step.index, at: waitsSinceMicroseconds / 1_000, hasLoader: !isNew || !isThere)
    watched[step.index] = max(watched[step.index], 0)
    explain("the viewer looks at \(item.id)\(isThere ? "" : ": loader")")
    if isThere {
      look()
    } else {
      if isNew {
        if item.durationMilliseconds == nil {
          figures.imageLoaders += 1
        } else {
          figures.videoLoaders += 1
        }
      }
      let patience = setup.viewer.patienceMilliseconds ?? step.dwellMilliseconds
      phase = .waiting(untilMicroseconds: listedSinceMicroseconds + patience * 1_000)
    }
    tell(.activeChanged(item.id))
    // The bytes that the server stated are there, but do not show the clip.
    if !isThere, item.durationMilliseconds != nil, isSaidToShow {
      tell(.playbackMoved(milliseconds: 0, .waiting))
    }
    // The engine assumes that the clip plays, so it is told only if it stands.
    if playback.standsUntilByte != nil { tellPlayback() }
  }

  /// Whether the bytes that start the active item's clip according to the server are there.
  private var isSaidToShow: Bool {
    guard let chosen = engine.chosenFile(of: setup.feed.items[step.index].id),
      let timing = chosen.load.timing, timing.isStartable
    else { return false }
    return engine.held(chosen.key).first.map { $0.contains(0) && $0.count >= timing.headBytes }
      ?? false
  }

  /// Whether the bytes that start the item are there.
  private func isThere(_ index: Int) -> Bool {
    let item = setup.feed.items[index]
    var place = setup.feed.firstFiles[index]
    for files in item.media.prefix(item.seenMedia) {
      let starts = files.indices.contains { variant in
        files[variant].startRanges.allSatisfy { held[place + variant].contains($0) }
      }
      guard starts else { return false }
      place += files.count
    }
    return true
  }

  /// Handles the arrival of bytes of an item, for which the viewer may wait.
  mutating func see(_ index: Int) {
    guard index == step.index else { return }
    switch phase {
    case .waiting where isThere(index):
      look()
      tellPlayback()
    case .looking: if playback.standsUntilByte != nil { playOn() }
    default: break
    }
  }

  /// Lets the viewer see the item from now on.
  private mutating func look() {
    let now = link.nowMicroseconds
    if phase != .travelling { noteWait(now - waitsSinceMicroseconds) }
    // Viewers without patience go on in time, whether or not it is loaded.
    let from = setup.viewer.patienceMilliseconds == nil ? listedSinceMicroseconds : now
    phase = .looking(untilMicroseconds: from + step.dwellMilliseconds * 1_000)
    beginPlayback()
  }

  /// Notes that the client shows the item's first frame, or that the viewer goes on without it.
  mutating func noteFrame() {
    guard !isShown else { return }
    isShown = true
    figures.frameMicroseconds += link.nowMicroseconds - waitsSinceMicroseconds
  }

  private mutating func noteWait(_ microseconds: Int) {
    let milliseconds = microseconds / 1_000
    figures.waitedMicroseconds += microseconds
    figures.waitsMilliseconds.append(milliseconds)
    timeline?.waited(milliseconds)
    explain("after \(milliseconds) ms")
  }

  /// Lets the viewer leave the item.
  mutating func leave() {
    if case .waiting = phase {
      noteWait(link.nowMicroseconds - waitsSinceMicroseconds)
    }
    endPlayback()
    noteFrame()
    if isDelayed { figures.stalledClips += 1 }
    if record != nil {
      let now = link.nowMicroseconds
      record! += SessionLog.line(
        leaving: setup.feed.items[step.index].id, at: now / 1_000,
        dwellMilliseconds: (now - waitsSinceMicroseconds) / 1_000,
        waitMilliseconds: (figures.waitedMicroseconds - waitedBeforeMicroseconds) / 1_000)
    }
    setOut()
  }

  /// Records the look at the item that the viewer has come to.
  private mutating func noteLook(isReady: Bool) {
    guard record != nil else { return }
    waitedBeforeMicroseconds = figures.waitedMicroseconds
    record! += SessionLog.line(
      SessionLog.Look(
        atMilliseconds: link.nowMicroseconds / 1_000, item: setup.feed.items[step.index].id,
        isReady: isReady, isGoingUp: step.distance < 0))
  }
}
