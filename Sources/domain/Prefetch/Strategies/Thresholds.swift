/// Nothing ahead, and the next page at the end of the list.
struct EndlessStrategy: PrefetchStrategy {
  static let name = "endless"
  static let parameterList: [Parameter] = []

  var leading: Int { 0 }

  func nextPageIndex(count: Int) -> Int? { max(0, count - 1) }
  func reasonForNextPage(_ facts: EngineFacts, active: Int) -> PrefetchReason? { nil }
}

/// Nothing ahead but pages: the next one as soon as this share of the whole list was seen.
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

  /// The index of the item with which the share is seen: it is on the screen as soon as it is the active one.
  fileprivate static func index(of percent: Int, _ count: Int) -> Int {
    max(0, (count * percent + 99) / 100 - 1)
  }
}

/// Nothing ahead but pages: the next one as soon as this share of the newest page was seen.
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
  /// Nothing ahead, and the next page at the end of the list.
  public static var endless: Self { Self(EndlessStrategy()) }

  /// Nothing ahead but pages: the next one as soon as this share of the whole list was seen.
  public static func thresholdFixed(percent: Int) -> Self {
    Self(FixedThresholdStrategy(percent: percent))
  }

  /// The same, of the newest page.
  public static func thresholdDynamic(percent: Int) -> Self {
    Self(DynamicThresholdStrategy(percent: percent))
  }
}
