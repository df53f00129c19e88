/// The engine's limits, and its assumptions before measurements, each with a default.
public struct PrefetchSettings: Hashable, Sendable, Codable {
  /// The maximum number of items in the list; those farthest behind the active one leave it.
  public var heldItems = 1_000
  /// The maximum number of known files of items that have left the list; beyond it, the least recently used
  /// files are evicted.
  public var heldFiles = 2_000
  /// The maximum number of held bytes; beyond it, those farthest from the active item are evicted.
  public var heldBytes = 268_435_456
  /// The maximum number of bytes held or in transfer for items that the person has not looked at yet.
  public var speculativeBytes = 33_554_432
  /// The same while the person saves data.
  public var saveDataSpeculativeBytes = 0
  /// The same on a metered network.
  public var meteredSpeculativeBytes = 4_194_304
  /// The same while the device is under stress.
  public var stressSpeculativeBytes = 2_097_152
  /// The maximum number of bytes that the session loads, such as a person's data plan; 0 for no limit. As it
  /// is used up, the price of `expected-wait` rises, and then no strategy loads anything ahead.
  public var budgetBytes = 0
  /// The price of `expected-wait` on a metered network, in percent of the usual one.
  public var meteredPricePercent = 400
  /// The same while the device is under stress.
  public var stressPricePercent = 8_000
  /// The maximum number of concurrent transfers. 1 says that the link or the client carries only one: clips
  /// then come piece by piece, and the next piece is decided after each. If that is so and this number is
  /// greater, requests queue behind each other, and clips stall.
  public var parallelTransfers = 4
  /// The maximum number of paused transfers; beyond it, the oldest is cancelled.
  public var pausedTransfers = 4
  /// The time that a decoder takes to show a clip's first frame.
  public var decoderStartMilliseconds = 80
  /// The number of items ahead of the active one that are decoded before the person looks at them.
  public var decodedAheadItems = 1
  /// The number of items on a screen, in hundredths.
  public var itemsPerScreenHundredths = 100
  /// The speed from which a scroll is a fling, in thousandths of items a second.
  public var flingMilliitemsPerSecond = 4_000
  /// The bandwidth before it is measured, in kilobits (1000 bits) a second.
  public var downlinkKbps = 780
  /// The round trip before it is measured.
  public var roundTripMilliseconds = 200
  /// The size of a page of the feed itself.
  public var pageBytes = 20_480
  /// The delay before a failed transfer or page is retried; it doubles after each further failure.
  public var retryMilliseconds = 500
  /// The maximum delay before a retry.
  public var retryLimitMilliseconds = 30_000
  /// The seed of the random numbers of `expected-wait`.
  public var seed = 1

  /// Creates the default settings.
  public init() {}

  /// A setting: its name, its range, and where it is stored.
  public struct Setting: Sendable {
    /// The name in JSON.
    public let name: String
    /// The allowed values.
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

    /// The setting's value.
    public func value(in settings: PrefetchSettings) -> Int { value(settings) }
    /// Sets the value, which should be in `range`.
    public func set(_ number: Int, in settings: inout PrefetchSettings) {
      change(&settings, number)
    }
  }

  /// All settings, in the order of their declarations.
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

  /// The first setting outside its range, if any.
  public var problem: (name: String, value: Int, range: ClosedRange<Int>)? {
    for setting in Self.all where !setting.range.contains(setting.value(in: self)) {
      return (setting.name, setting.value(in: self), setting.range)
    }
    return nil
  }
}

/// The counts of an engine since it began.
public struct PrefetchCounts: Hashable, Sendable, Codable {
  /// The number of times that the person looked at an item.
  public internal(set) var viewedItems = 0
  /// Of these, pictures that were not held.
  public internal(set) var imageLoaders = 0
  /// Of these, clips that lacked bytes to start.
  public internal(set) var videoLoaders = 0
  /// Transfers that were begun.
  public internal(set) var requests = 0
  /// Bytes that arrived.
  public internal(set) var fetchedBytes = 0
  /// Of these, bytes of cancelled transfers; they are kept.
  public internal(set) var cancelledBytes = 0
  /// Bytes that were held and evicted.
  public internal(set) var evictedBytes = 0
  /// Pages that were requested.
  public internal(set) var pages = 0
}
