/// What bounds the engine, and what it takes for granted before it has measured: each number with its default.
public struct PrefetchSettings: Hashable, Sendable, Codable {
  /// How many items the list has at the most; those farthest behind the active one leave it.
  public var heldItems = 1_000
  /// How many files of items that have left the list are known at the most; of more, those longest out of use
  /// are evicted.
  public var heldFiles = 2_000
  /// How many bytes are held at the most; of more, what is farthest from the active item is evicted.
  public var heldBytes = 268_435_456
  /// Maximum number of bytes that are held or in transfer for items that the person has not looked at yet.
  public var speculativeBytes = 33_554_432
  /// The same while the person saves data.
  public var saveDataSpeculativeBytes = 0
  /// The same on a metered network.
  public var meteredSpeculativeBytes = 4_194_304
  /// The same while the device is under stress.
  public var stressSpeculativeBytes = 2_097_152
  /// What the session may load altogether: a person's data plan; 0 where it may load what it likes. As it is used
  /// up the price of our strategy rises, and then nothing is loaded ahead by any.
  public var budgetBytes = 0
  /// What the price of our strategy is multiplied by on a metered network, in percent.
  public var meteredPricePercent = 400
  /// The same while the device is under stress.
  public var stressPricePercent = 8_000
  /// How many transfers run at once. 1 says that the link or the client carries no more than one: clips then come piece by
  /// piece, and what is next is decided anew after each. Where that is so and this says more, what is asked for queues
  /// behind each other, and clips stand for it.
  public var parallelTransfers = 4
  /// How many transfers rest at once; of more, the oldest is cancelled.
  public var pausedTransfers = 4
  /// How long a decoder takes to show a clip's first frame.
  public var decoderStartMilliseconds = 80
  /// How many items below the active one are decoded before they are looked at.
  public var decodedAheadItems = 1
  /// How many items a screen shows, in hundredths.
  public var itemsPerScreenHundredths = 100
  /// From which speed on a scroll is a fling, in thousandths of items a second.
  public var flingMilliitemsPerSecond = 4_000
  /// The bandwidth before it is measured, in kilobits (1000 bits) a second.
  public var downlinkKbps = 780
  /// The round trip before it is measured.
  public var roundTripMilliseconds = 200
  /// What a page of the feed has itself.
  public var pageBytes = 20_480
  /// After how long a failed transfer or page is tried again; twice as long after each further failure.
  public var retryMilliseconds = 500
  /// After how long at the most.
  public var retryLimitMilliseconds = 30_000
  /// The beginning of the random numbers of our strategy.
  public var seed = 1

  /// The defaults.
  public init() {}

  /// A setting: its name, what it may be, and where it is kept.
  public struct Setting: Sendable {
    /// As it is written in JSON.
    public let name: String
    /// What it may be.
    public let range: ClosedRange<Int>
    private let value: @Sendable (PrefetchSettings) -> Int
    private let change: @Sendable (inout PrefetchSettings, Int) -> Void

    init(
      _ name: String, _ range: ClosedRange<Int>,
      _ path: WritableKeyPath<PrefetchSettings, Int> & Sendable
    ) {
      self.name = name
      self.range = range
      value = { $0[keyPath: path] }
      change = { $0[keyPath: path] = $1 }
    }

    /// What it is.
    public func value(in settings: PrefetchSettings) -> Int { value(settings) }
    /// Makes it another; `range` says what it may be.
    public func set(_ number: Int, in settings: inout PrefetchSettings) {
      change(&settings, number)
    }
  }

  /// All of them, in the order of their declarations.
  public static let all: [Setting] = [
    Setting("heldItems", 256...1_000_000, \.heldItems),
    Setting("heldFiles", 1...1_000_000, \.heldFiles),
    Setting("heldBytes", 0...mostBytes, \.heldBytes),
    Setting("speculativeBytes", 0...mostBytes, \.speculativeBytes),
    Setting("saveDataSpeculativeBytes", 0...mostBytes, \.saveDataSpeculativeBytes),
    Setting("meteredSpeculativeBytes", 0...mostBytes, \.meteredSpeculativeBytes),
    Setting("stressSpeculativeBytes", 0...mostBytes, \.stressSpeculativeBytes),
    Setting("budgetBytes", 0...mostBytes, \.budgetBytes),
    Setting("meteredPricePercent", 0...1_000_000, \.meteredPricePercent),
    Setting("stressPricePercent", 0...1_000_000, \.stressPricePercent),
    Setting("parallelTransfers", 1...64, \.parallelTransfers),
    Setting("pausedTransfers", 0...64, \.pausedTransfers),
    Setting("decoderStartMilliseconds", 0...600_000, \.decoderStartMilliseconds),
    Setting("decodedAheadItems", 0...100, \.decodedAheadItems),
    Setting("itemsPerScreenHundredths", 1...10_000, \.itemsPerScreenHundredths),
    Setting("flingMilliitemsPerSecond", 1...1_000_000_000, \.flingMilliitemsPerSecond),
    Setting("downlinkKbps", 1...1_000_000_000, \.downlinkKbps),
    Setting("roundTripMilliseconds", 0...600_000, \.roundTripMilliseconds),
    Setting("pageBytes", 0...16_777_216, \.pageBytes),
    Setting("retryMilliseconds", 1...86_400_000, \.retryMilliseconds),
    Setting("retryLimitMilliseconds", 1...86_400_000, \.retryLimitMilliseconds),
    Setting("seed", 0...9_007_199_254_740_991, \.seed),
  ]

  /// 256 TiB: sums of counts up to it do not overflow.
  private static let mostBytes = 281_474_976_710_656

  /// Which setting is outside of its range, if any.
  public var problem: (name: String, value: Int, range: ClosedRange<Int>)? {
    for setting in Self.all where !setting.range.contains(setting.value(in: self)) {
      return (setting.name, setting.value(in: self), setting.range)
    }
    return nil
  }
}

/// What an engine counted since it began.
public struct PrefetchCounts: Hashable, Sendable, Codable {
  /// Items that the person looked at, each time.
  public internal(set) var viewedItems = 0
  /// Of these, pictures that were not there.
  public internal(set) var imageLoaders = 0
  /// Of these, clips short of what starts them.
  public internal(set) var videoLoaders = 0
  /// Transfers that were begun.
  public internal(set) var requests = 0
  /// Bytes that arrived.
  public internal(set) var fetchedBytes = 0
  /// Of these, bytes of transfers that were cancelled: kept, all the same.
  public internal(set) var cancelledBytes = 0
  /// Bytes that were held and evicted.
  public internal(set) var evictedBytes = 0
  /// Pages that were asked for.
  public internal(set) var pages = 0
}
