import JSON
import Prefetch

extension Policy {
  /// Decodes a policy from the form of `/v1/networks`; `nil` if this program does not support it.
  public init?(json value: JSONValue) {
    guard let name = value.member("name")?.text, let strategy = value.member("strategy")?.text,
      let parameters = value.member("parameters"), parameters.kind == .object
    else { return nil }
    var numbers: [String: Int] = [:]
    for member in parameters.members {
      guard let number = member.value.wholeNumber else { return nil }
      numbers[member.name] = number
    }
    guard let known = try? Policy.Strategy(name: strategy, parameters: numbers) else { return nil }
    self.init(name: name, strategy: known)
    func take(
      _ path: WritableKeyPath<Policy, Int>, _ name: String, of value: JSONValue?,
      _ range: ClosedRange<Int>
    ) {
      if let number = value?.member(name)?.wholeNumber, range.contains(number) {
        self[keyPath: path] = number
      }
    }
    take(\.trailing, "trailing", of: value, 0...100)
    let weights = value.member("weights")
    take(\.imageWeight, "image", of: weights, 0...1_000)
    take(\.videoWeight, "video", of: weights, 0...1_000)
    take(\.webappWeight, "webapp", of: weights, 0...1_000)
    take(\.adWeight, "ad", of: weights, 0...1_000)
    take(\.textWeight, "text", of: weights, 0...1_000)
    take(\.carouselVisibleParts, "carouselVisibleParts", of: value, 1...100)
    let defaults = value.member("defaults")
    take(\.videoStartBytes, "videoStartBytes", of: defaults, 0...1 << 40)
    take(\.videoBytes, "videoBytes", of: defaults, 0...1 << 40)
    take(\.videoKbps, "videoKbps", of: defaults, 0...1_000_000)
    take(\.imageBytes, "imageBytes", of: defaults, 0...1 << 40)
    take(\.webappBytes, "webappBytes", of: defaults, 0...1 << 40)
    take(\.nextPagePercent, "nextPagePercent", of: value, 0...100)
    take(\.itemsPerMinute, "itemsPerMinute", of: value, 1...6_000)
  }
}
