/// What makes one setting better than another: what is to be little.
public enum Objective: Hashable, Sendable {
  /// Loaders per 1000, of the settings that take no more bytes than the current one.
  case withinCurrentBytes
  /// Loaders per 1000, of the settings that take no more than so many kilobytes (1000 bytes) an item.
  case within(kilobytes: Double)
  /// A sum: loaders per 1000, and so many more for each megabyte an item.
  case weighted(loadersPerMegabyte: Double)

  /// How good a setting is, and less is better: of two that take too much, the one that takes less.
  func score(loaders: Double, kilobytes: Double, currentKilobytes: Double) -> Double {
    switch self {
    case .withinCurrentBytes: Self.limited(loaders, kilobytes, limit: currentKilobytes)
    case .within(let limit): Self.limited(loaders, kilobytes, limit: limit)
    case .weighted(let price): loaders + price * kilobytes / 1_000
    }
  }

  private static func limited(_ loaders: Double, _ kilobytes: Double, limit: Double) -> Double {
    kilobytes <= limit ? loaders : tooMuch + kilobytes
  }

  /// More loaders than there can be.
  private static let tooMuch = 1e6

  /// What it asks for, in words.
  public var words: String {
    switch self {
    case .withinCurrentBytes: "fewest loaders per 1000 with no more bytes than the current setting"
    case .within(let limit): "fewest loaders per 1000 within \(fixed(limit, 1)) KB an item"
    case .weighted(let price):
      "least sum of loaders per 1000 and \(fixed(price, 1)) for each megabyte an item"
    }
  }
}
