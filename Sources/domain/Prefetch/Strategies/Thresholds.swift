/// Loads nothing ahead, and requests the next page at the end of the list.
struct EndlessStrategy: PrefetchStrategy {
  static let name = "endless"
  static let parameterList: [Parameter] = []

  var leading: Int { 0 }

  func nextPageIndex(count: Int) -> Int? { max(0, count - 1) }
  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason? { nil }
}

/// Loads only pages ahead: the next one once this share of the whole list was seen.
struct FixedThresholdStrategy: PrefetchStrategy {
  static let name = "threshold-fixed"
  static let parameterList = [Parameter("percent", 1...100, \.percent)]

  var percent = 70

  var leading: Int { 0 }

  func nextPageIndex(count: Int) -> Int? { Self.index(of: percent, count) }

  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason? {
    let (seen, count) = (active - facts.list.first + 1, facts.list.count)
    return seen * 100 >= count * percent
      ? .share(seen: seen, of: count, percent: percent) : nil
  }

  /// The index of the item with which the share is seen: an item is on the screen as soon as it is active.
  fileprivate static func index(of percent: Int, _ count: Int) -> Int {
    max(0, (count * percent + 99) / 100 - 1)
  }
}

/// Loads only pages ahead: the next one once this share of the newest page was seen.
struct DynamicThresholdStrategy: PrefetchStrategy {
  static let name = "threshold-dynamic"
  static let parameterList = [Parameter("percent", 1...100, \.percent)]

  var percent = 70

  var leading: Int { 0 }

  func nextPageIndex(count: Int) -> Int? { FixedThresholdStrategy.index(of: percent, count) }

  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason? {
    let newestCount = facts.pages.newestCount
    let seen = active - facts.list.first + 1 - (facts.list.count - newestCount)
    return seen * 100 >= newestCount * percent
      ? .share(seen: max(0, seen), of: newestCount, percent: percent) : nil
  }
}

extension Policy.Strategy {
  /// A strategy that loads nothing ahead, and requests the next page at the end of the list.
  public static var endless: Self { Self(EndlessStrategy()) }

  /// A strategy that loads only pages ahead: the next one once this share of the whole list was seen.
  public static func thresholdFixed(percent: Int) -> Self {
    Self(FixedThresholdStrategy(percent: percent))
  }

  /// A strategy that loads only pages ahead: the next one once this share of the newest page was seen.
  public static func thresholdDynamic(percent: Int) -> Self {
    Self(DynamicThresholdStrategy(percent: percent))
  }
}
