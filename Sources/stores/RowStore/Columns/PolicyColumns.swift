import JSON
import Prefetch

/// The columns of the table `policy`, without its key, and their contents.
package enum PolicyColumns {
  /// The columns that hold texts.
  package static let texts = ["name", "strategy", "parameters"]
  /// The columns that hold whole numbers.
  package static let numbers = [
    "trailing", "image_weight", "video_weight", "webapp_weight", "ad_weight", "text_weight",
    "carousel_visible_parts", "video_start_bytes", "video_bytes", "video_kbps", "image_bytes",
    "webapp_bytes", "next_page_percent", "items_per_minute",
  ]
  /// All columns.
  package static let all = texts + numbers
  /// The number of applied settings that are kept for each feed and network.
  package static let keptApplications = 100

  /// Returns a strategy's parameters as a JSON object.
  package static func parameters(of strategy: Policy.Strategy) -> String {
    var parameters = JSONWriter(capacity: 128)
    parameters.object { writer in
      for (name, value) in strategy.parameters {
        writer.key(text: name)
        writer.integer(value)
      }
    }
    return String(decoding: parameters.bytes, as: UTF8.self)
  }

  /// Returns the strategy of a row.
  package static func strategy(
    name: String, parameters: String, feed: String?, network: String
  ) throws(PolicyError) -> Policy.Strategy {
    do throws(StrategyError) {
      return try Policy.Strategy(name: name, parameters: try numbers(in: parameters))
    } catch {
      throw PolicyError(feed: feed, network: network, strategy: name, reason: error)
    }
  }

  private static func numbers(in text: String) throws(StrategyError) -> [String: Int] {
    guard let root = try? JSONDocument(Array(text.utf8)).root, root.kind == .object else {
      throw .unreadable
    }
    var parameters: [String: Int] = [:]
    for member in root.members {
      guard let number = member.value.wholeNumber else { throw .unreadable }
      parameters[member.name] = number
    }
    return parameters
  }
}
