/// How far the ranges of a range controller reach, in hundredths of screenfuls: further in the direction of
/// the scroll (leading) than behind (trailing). The first values are Texture's (`ASRangeTuningParameters`).
public struct RangeTuning: Hashable, Sendable {
  /// How much the list does ahead.
  public enum Mode: String, Hashable, Sendable, Codable {
    /// Before the person has scrolled.
    case minimum
    /// While the person scrolls.
    case full
    /// Save-Data, stress, a metered network with nothing left to spend: what is on the screen.
    case visibleOnly
  }

  /// How far a range reaches.
  public struct Reach: Hashable, Sendable {
    /// In the direction of the scroll, in hundredths of screenfuls.
    public var leading: Int
    /// Behind, in hundredths of screenfuls.
    public var trailing: Int

    /// A range that reaches so far.
    public init(leading: Int, trailing: Int) {
      self.leading = leading
      self.trailing = trailing
    }
  }

  /// What is made ready to be shown, once the person has scrolled.
  public var display: Reach
  /// What is loaded then.
  public var preload: Reach
  /// What is made ready before.
  public var minimumDisplay: Reach
  /// What is loaded before.
  public var minimumPreload: Reach

  /// Ranges that reach so far.
  public init(
    display: Reach = Reach(leading: 100, trailing: 50),
    preload: Reach = Reach(leading: 250, trailing: 150),
    minimumDisplay: Reach = Reach(leading: 25, trailing: 25),
    minimumPreload: Reach = Reach(leading: 50, trailing: 25)
  ) {
    self.display = display
    self.preload = preload
    self.minimumDisplay = minimumDisplay
    self.minimumPreload = minimumPreload
  }

  init(_ parameters: inout StrategyParameters) throws(StrategyError) {
    func reach(_ leading: String, _ trailing: String) throws(StrategyError) -> Reach {
      Reach(
        leading: try parameters.take(leading, 0...2_000),
        trailing: try parameters.take(trailing, 0...2_000))
    }
    self.init(
      display: try reach("displayLeading", "displayTrailing"),
      preload: try reach("preloadLeading", "preloadTrailing"),
      minimumDisplay: try reach("minimumDisplayLeading", "minimumDisplayTrailing"),
      minimumPreload: try reach("minimumPreloadLeading", "minimumPreloadTrailing"))
  }

  var parameters: [(name: String, value: Int)] {
    [
      ("displayLeading", display.leading), ("displayTrailing", display.trailing),
      ("preloadLeading", preload.leading), ("preloadTrailing", preload.trailing),
      ("minimumDisplayLeading", minimumDisplay.leading),
      ("minimumDisplayTrailing", minimumDisplay.trailing),
      ("minimumPreloadLeading", minimumPreload.leading),
      ("minimumPreloadTrailing", minimumPreload.trailing),
    ]
  }

  /// The display and the preload range in this mode.
  func reaches(in mode: Mode) -> (display: Reach, preload: Reach) {
    switch mode {
    case .minimum: (minimumDisplay, minimumPreload)
    case .full: (display, preload)
    case .visibleOnly: (Reach(leading: 0, trailing: 0), Reach(leading: 0, trailing: 0))
    }
  }

  /// How many items below the active one are loaded where one fills the screen.
  func leadingItems(of mode: Mode) -> Int {
    let (display, preload) = reaches(in: mode)
    return (max(display.leading, preload.leading) + 99) / 100
  }
}
