import ArgumentParser
import Lab
import Prefetch

/// A grid of settings of the weighted strategy, and prices of expected-wait beside it.
struct LabGridOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Maximum costs, separated by commas.", valueName: "list"))
  var maxCost = "1,3,5,7,10"

  @Option(help: ArgumentHelp("Costs of a video.", valueName: "list"))
  var videoCost = "1,2,3,4,5"

  @Option(help: ArgumentHelp("Costs of an image.", valueName: "list"))
  var imageCost = "1,2,3,4,5"

  @Option(
    help: ArgumentHelp(
      "Prices: run expected-wait with each of them, too.", valueName: "list"))
  var price: String?

  /// The setting with which the article starts.
  private static let current = LabReport.Grid.Setting(maxCost: 5, videoCost: 2, imageCost: 1)

  mutating func validate() throws {
    _ = try settings()
    _ = try priced(isHinted: true)
  }

  /// Every setting, the current one first.
  func settings() throws -> [LabReport.Grid.Setting] {
    let maxCosts = try Self.numbers(maxCost, 0...1_000_000, "max-cost")
    let videoCosts = try Self.numbers(videoCost, 0...1_000, "video-cost")
    let imageCosts = try Self.numbers(imageCost, 0...1_000, "image-cost")
    guard maxCosts.count * videoCosts.count * imageCosts.count <= 10_000 else {
      throw ValidationError("the grid has more than 10000 settings")
    }
    var known: Set = [Self.current]
    let grid = maxCosts.flatMap { most in
      videoCosts.flatMap { video in
        imageCosts.map {
          LabReport.Grid.Setting(maxCost: most, videoCost: video, imageCost: $0)
        }
      }
    }
    return [Self.current] + grid.filter { known.insert($0).inserted }
  }

  /// A contestant for each setting.
  func contestants(isHinted: Bool) throws -> [Contestant] {
    try settings().map { setting in
      // The strategy considers as many items as it could ever afford.
      let policy = Policy(
        name: "weighted", strategy: .weighted(leading: 20, maxCost: setting.maxCost),
        imageWeight: setting.imageCost, videoWeight: setting.videoCost)
      return Contestant(
        name: "max=\(setting.maxCost) video=\(setting.videoCost) image=\(setting.imageCost)",
        policy: policy, isHinted: isHinted)
    }
  }

  /// Expected-wait at each price.
  ///
  /// - Parameter usual: the default prices.
  func priced(isHinted: Bool, usual: String? = nil) throws -> [Contestant] {
    let prices = try (price ?? usual).map { try Self.numbers($0, 0...1_000_000, "price") } ?? []
    return try prices.map {
      try LabStrategies.contestant("expected-wait:price=\($0)", isHinted: isHinted)
    }
  }

  private static func numbers(
    _ text: String, _ range: ClosedRange<Int>, _ name: String
  ) throws -> [Int] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= 1_000 else { throw ValidationError("--\(name): more than 1000 numbers") }
    return try parts.map { part in
      guard let number = Int(part), range.contains(number) else {
        throw ValidationError(
          "--\(name): \"\(part)\" is not a whole number from \(range.lowerBound) to "
            + "\(range.upperBound)"
        )
      }
      return number
    }
  }
}
