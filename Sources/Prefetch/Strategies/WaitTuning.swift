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
