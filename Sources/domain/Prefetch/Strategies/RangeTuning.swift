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

/// How far the stages of a preload manager reach, as Android's has them (`DefaultPreloadManager` of Media3):
/// the nearest clips are loaded for so long, those further away only as far as a player is prepared.
public struct StageTuning: Hashable, Sendable {
  /// How much of the nearest items is loaded, in milliseconds of playback.
  public var loadedMilliseconds: Int
  /// How many items either side of the active one that holds for.
  public var loadedDistance: Int
  /// How many items either side have as much as shows their first frame.
  public var preparedDistance: Int

  /// Stages that reach so far.
  public init(loadedMilliseconds: Int = 3_000, loadedDistance: Int = 1, preparedDistance: Int = 4) {
    self.loadedMilliseconds = loadedMilliseconds
    self.loadedDistance = loadedDistance
    self.preparedDistance = preparedDistance
  }

  init(_ parameters: inout StrategyParameters) throws(StrategyError) {
    self.init(
      loadedMilliseconds: try parameters.take("loadedMilliseconds", 0...600_000),
      loadedDistance: try parameters.take("loadedDistance", 0...100),
      preparedDistance: try parameters.take("preparedDistance", 0...100))
  }

  var parameters: [(name: String, value: Int)] {
    [
      ("loadedMilliseconds", loadedMilliseconds), ("loadedDistance", loadedDistance),
      ("preparedDistance", preparedDistance),
    ]
  }
}

/// The numbers of our strategy: the price, and the knobs between few waits and few bytes.
public struct WaitTuning: Hashable, Sendable {
  /// What a megabyte (1 000 000 bytes) has to save of expected waiting, in milliseconds: the one number that
  /// a product decides.
  public var price: Int
  /// The share of measured bandwidths that are below the one that is counted on, in percent.
  public var quantilePercent: Int
  /// How many bytes a step has: what is decided about at a time.
  public var stepBytes: Int
  /// How many futures are drawn.
  public var futures: Int
  /// How many items ahead are looked at.
  public var leading: Int
  /// How much longer a person may wait, in all of the next ten items, for files of twice the bytes.
  public var qualityMilliseconds: Int

  /// These numbers.
  public init(
    price: Int = 1_500, quantilePercent: Int = 25, stepBytes: Int = 65_536, futures: Int = 24,
    leading: Int = 12, qualityMilliseconds: Int = 200
  ) {
    self.price = price
    self.quantilePercent = quantilePercent
    self.stepBytes = stepBytes
    self.futures = futures
    self.leading = leading
    self.qualityMilliseconds = qualityMilliseconds
  }

  init(_ parameters: inout StrategyParameters) throws(StrategyError) {
    self.init(
      price: try parameters.take("price", 0...1_000_000),
      quantilePercent: try parameters.take("quantilePercent", 0...100),
      stepBytes: try parameters.take("stepBytes", 1_024...16_777_216),
      futures: try parameters.take("futures", 1...64),
      leading: try parameters.take("leading", 0...32),
      qualityMilliseconds: try parameters.take("qualityMilliseconds", 0...60_000))
  }

  var parameters: [(name: String, value: Int)] {
    [
      ("price", price), ("quantilePercent", quantilePercent), ("stepBytes", stepBytes),
      ("futures", futures), ("leading", leading), ("qualityMilliseconds", qualityMilliseconds),
    ]
  }
}
