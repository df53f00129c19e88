/// The ranges of a range controller, in hundredths of screenfuls: larger in the direction of the scroll
/// (leading) than behind (trailing). The defaults are Texture's (`ASRangeTuningParameters`).
public struct RangeTuning: Hashable, Sendable, Codable {
  /// How much the list loads ahead.
  public enum Mode: String, Hashable, Sendable, Codable {
    /// Before the person has scrolled.
    case minimum
    /// While the person scrolls.
    case full
    /// Under Save-Data: only what is on the screen.
    case visibleOnly
  }

  /// The extent of a range.
  public struct Reach: Hashable, Sendable, Codable {
    /// The extent in the direction of the scroll, in hundredths of screenfuls.
    public var leading: Int
    /// The extent behind, in hundredths of screenfuls.
    public var trailing: Int

    /// Creates an extent.
    public init(leading: Int, trailing: Int) {
      self.leading = leading
      self.trailing = trailing
    }
  }

  /// The range to prepare for display, once the person has scrolled.
  public var display: Reach
  /// The range to load, once the person has scrolled.
  public var preload: Reach
  /// The range to prepare for display before that.
  public var minimumDisplay: Reach
  /// The range to load before that.
  public var minimumPreload: Reach

  /// Creates Texture's ranges.
  public init() { self.init(display: Reach(leading: 100, trailing: 50)) }

  /// Creates ranges of these extents.
  public init(
    display: Reach,
    preload: Reach = Reach(leading: 250, trailing: 150),
    minimumDisplay: Reach = Reach(leading: 25, trailing: 25),
    minimumPreload: Reach = Reach(leading: 50, trailing: 25)
  ) {
    self.display = display
    self.preload = preload
    self.minimumDisplay = minimumDisplay
    self.minimumPreload = minimumPreload
  }

  /// The display and the preload range in this mode.
  func reaches(in mode: Mode) -> (display: Reach, preload: Reach) {
    switch mode {
    case .minimum: (minimumDisplay, minimumPreload)
    case .full: (display, preload)
    case .visibleOnly: (Reach(leading: 0, trailing: 0), Reach(leading: 0, trailing: 0))
    }
  }
}

/// Loads the items in ranges around the screen, larger in the direction of the scroll (S7).
extension RangeTuning: PrefetchStrategy {
  static let name = "range-controller"
  static let parameterList = [
    Parameter("displayLeading", 0...2_000, \.display.leading),
    Parameter("displayTrailing", 0...2_000, \.display.trailing),
    Parameter("preloadLeading", 0...2_000, \.preload.leading),
    Parameter("preloadTrailing", 0...2_000, \.preload.trailing),
    Parameter("minimumDisplayLeading", 0...2_000, \.minimumDisplay.leading),
    Parameter("minimumDisplayTrailing", 0...2_000, \.minimumDisplay.trailing),
    Parameter("minimumPreloadLeading", 0...2_000, \.minimumPreload.leading),
    Parameter("minimumPreloadTrailing", 0...2_000, \.minimumPreload.trailing),
  ]

  /// The number of items below the active one that load if one item fills the screen.
  var leading: Int { (max(display.leading, preload.leading) + 99) / 100 }

  func decodedAheadItems(_ facts: EngineFacts) -> Int {
    facts.items(of: reaches(in: facts.rangeMode).display.leading)
  }

  /// Adds the items on the screen, then those of the display range, then those of the preload range, each in
  /// the direction of the scroll first.
  func addWants(_ facts: EngineFacts, active: Int, to wants: inout [Want]) {
    let (display, preload) = reaches(in: facts.rangeMode)
    let visible = facts.items(of: 100)
    let direction = facts.viewer.direction
    // The screen begins with the active item, in either direction.
    let (below, above) = (visible - 1, 0)
    let (ahead, behind) = direction > 0 ? (below, above) : (above, below)
    func add(_ range: PrefetchReason.ScreenRange, _ from: Int, _ count: Int, _ sign: Int) {
      for step in 0..<max(0, count) {
        let distance = sign * (from + step + 1)
        guard facts.list.positions.contains(active + distance) else { return }
        wants.append(
          Want(
            position: active + distance, amount: .start,
            reason: .inRange(range, distance: distance)))
      }
    }
    add(.visible, 0, below, 1)
    let displayAhead = facts.items(of: display.leading)
    let displayBehind = facts.items(of: display.trailing)
    add(.display, ahead, displayAhead, direction)
    add(.display, behind, displayBehind, -direction)
    add(
      .preload, ahead + displayAhead, facts.items(of: preload.leading) - displayAhead, direction)
    add(
      .preload, behind + displayBehind, facts.items(of: preload.trailing) - displayBehind,
      -direction)
  }
}

extension EngineFacts {
  /// The mode in the present state.
  fileprivate var rangeMode: RangeTuning.Mode {
    network.savesData ? .visibleOnly : viewer.hasScrolled ? .full : .minimum
  }

  /// The number of items in this part of a screenful, rounded up.
  fileprivate func items(of hundredths: Int) -> Int {
    (hundredths * settings.itemsPerScreenHundredths + 9_999) / 10_000
  }
}

extension Policy.Strategy {
  /// A strategy that loads the items in ranges around the screen, larger in the direction of the scroll.
  public static func rangeController(_ tuning: RangeTuning) -> Self { Self(tuning) }
}
