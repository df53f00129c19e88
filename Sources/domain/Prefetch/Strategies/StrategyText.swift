extension Policy.Strategy {
  /// Creates the strategy of a text such as `weighted`, or `weighted:leading=5,maxCost=3`.
  ///
  /// - Throws: `StrategyError`.
  package init(text: String) throws(StrategyError) {
    let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    var parameters: [String: Int] = [:]
    if parts.count == 2 {
      for pair in parts[1].split(separator: ",", omittingEmptySubsequences: false) {
        let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2, let value = Int(sides[1]) else { throw .unreadable }
        parameters[String(sides[0])] = value
      }
    }
    try self.init(name: name, parameters: parameters)
  }

  /// The text that `init(text:)` reads.
  package var text: String {
    let numbers = parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    return numbers.isEmpty ? name : "\(name):\(numbers)"
  }
}

extension Policy {
  /// Creates the policy of a text: one of the article's by its name, such as `weighted-5`, or a strategy as
  /// `Strategy(text:)` reads it, which is the policy's name, too, if it has at most 100 bytes.
  ///
  /// - Throws: `StrategyError`.
  package init(text: String) throws(StrategyError) {
    if let policy = Self.ofArticle.first(where: { $0.name == text }) {
      self = policy
    } else {
      let strategy = try Strategy(text: text)
      self.init(name: text.utf8.count <= 100 ? text : strategy.name, strategy: strategy)
    }
  }
}
