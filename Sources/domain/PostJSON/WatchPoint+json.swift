import Feed
import JSON

extension [WatchPoint] {
  /// The curve as pairs of milliseconds and thousandths, the form of `survival` in items and states.
  public var json: String {
    var writer = JSONWriter(capacity: 128)
    writer.array { writer in
      for point in self {
        writer.array { writer in
          writer.integer(point.milliseconds)
          writer.integer(point.permille)
        }
      }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Decodes the points; empty if the JSON is not such a list.
  public init(json: String) {
    guard let root = try? JSONDocument([UInt8](json.utf8)).root,
      let pairs = try? root.checked(as: .array).elements.map({ try $0.pair() })
    else {
      self = []
      return
    }
    self = pairs.map { WatchPoint(milliseconds: $0.0, permille: $0.1) }
  }
}
