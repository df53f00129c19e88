import Feed
import JSON
import Prefetch

/// How long people watch clips, by duration: measured shares of the duration, pooled by duration.
///
/// Between the given deciles (10, 50 and 90 %) the distribution is linear. It begins at 0, and its maximum is
/// the one that gives the measured mean. A share above 1 is a clip seen more than once.
package struct WatchModel: Hashable, Sendable {
  /// Clips of a similar duration.
  package struct Group: Hashable, Sendable {
    /// The maximum duration of its clips, without those of earlier groups; the last group also has all longer
    /// ones.
    package let longestMilliseconds: Int
    /// The watched share, in thousandths.
    package let ratioPermille: Quantiles
  }

  /// The groups by ascending duration; at least one.
  package let groups: [Group]
  /// The curves of items that have their own, by id.
  package let items: [ByteText: [WatchPoint]]

  /// The maximum number of items with curves, and of points of each.
  static let (itemLimit, pointLimit) = (RecordedFeed.itemLimit, 256)

  /// Reads a file such as `viewers/watch.json`: an object with a list `deciles` of objects with `durationMs`,
  /// a list whose last number is the maximum duration of the group, and `watchRatio`, an object with `p10`,
  /// `p50`, `p90` and `mean`. An optional member `items` has curves by item id: lists of pairs of ascending
  /// milliseconds and the number of people in a thousand who still watch.
  package init(json: [UInt8]) throws(WatchModelError) {
    let document: JSONDocument
    do throws(JSONError) {
      document = try JSONDocument(json)
    } catch {
      throw .json(error)
    }
    guard let list = document.root.member("deciles"), list.kind == .array else {
      throw .missing("deciles")
    }
    var groups: [Group] = []
    for (index, decile) in list.elements.enumerated() {
      var longest: Int?
      if let durations = decile.member("durationMs"), durations.kind == .array {
        for duration in durations.elements { longest = duration.wholeNumber }
      }
      guard let longest, longest > groups.last?.longestMilliseconds ?? 0,
        longest <= Self.durationLimitMilliseconds
      else {
        throw .group(index, member: "durationMs")
      }
      func permille(_ name: String) throws(WatchModelError) -> Int {
        guard let value = decile.member("watchRatio")?.member(name),
          value.kind == .number,
          let share = Double(String(decoding: json[value.byteRange], as: UTF8.self)),
          (0...1_000).contains(share)
        else { throw .group(index, member: name) }
        return Int((share * 1_000).rounded())
      }
      guard
        let ratio = Self.ratio(
          p10: try permille("p10"), p50: try permille("p50"), p90: try permille("p90"),
          mean: try permille("mean"))
      else { throw .group(index, member: "watchRatio") }
      groups.append(Group(longestMilliseconds: longest, ratioPermille: ratio))
    }
    guard !groups.isEmpty else { throw .missing("deciles") }
    self.groups = groups
    items = try document.root.member("items").map(Self.curves) ?? [:]
  }

  private static func curves(
    _ value: JSONValue
  ) throws(WatchModelError) -> [ByteText: [WatchPoint]] {
    guard value.kind == .object else { throw .missing("items") }
    var curves: [ByteText: [WatchPoint]] = [:]
    for member in value.members {
      var (points, last) = ([WatchPoint](), WatchPoint(milliseconds: 0, permille: 1_000))
      for pair in member.value.elements {
        let numbers = pair.elements.prefix(3).map(\.wholeNumber)
        guard numbers.count == 2, points.count < pointLimit, let time = numbers[0],
          let share = numbers[1],
          (last.milliseconds...durationLimitMilliseconds).contains(time),
          (0...last.permille).contains(share)
        else { throw .item(member.name) }
        last = WatchPoint(milliseconds: time, permille: share)
        points.append(last)
      }
      guard !points.isEmpty, curves.count < itemLimit else { throw .item(member.name) }
      curves[ByteText(member.name)] = points
    }
    return curves
  }

  private static func ratio(p10: Int, p50: Int, p90: Int, mean: Int) -> Quantiles? {
    // 0.1·p10/2 + 0.4·(p10+p50)/2 + 0.4·(p50+p90)/2 + 0.1·(p90+p100)/2 is the mean.
    let p100 = 20 * mean - 5 * p10 - 8 * p50 - 5 * p90
    return Quantiles([
      .init(permille: 0, value: 0), .init(permille: 100, value: p10),
      .init(permille: 500, value: p50), .init(permille: 900, value: p90),
      .init(permille: 1_000, value: max(p90, p100)),
    ])
  }

  /// The maximum duration of a clip: seven weeks.
  static let durationLimitMilliseconds = 1 << 32

  /// The group of clips with this duration.
  package func group(ofMilliseconds duration: Int) -> Group {
    groups.first { duration <= $0.longestMilliseconds } ?? groups[groups.count - 1]
  }

  /// Draws the time for which a person watches a clip of this duration.
  package func drawMilliseconds(of duration: Int, _ random: inout LabRandom) -> Int {
    group(ofMilliseconds: duration).ratioPermille.draw(&random) * duration / 1_000
  }
}

/// The reason why a file is not a watch model.
package enum WatchModelError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is not JSON.
  case json(JSONError)
  /// This member is absent or empty.
  case missing(String)
  /// This member of a group, counted from 0, is absent or invalid: durations rise, and so do shares.
  case group(Int, member: String)
  /// The curve of this item is not a list of pairs of ascending times and falling shares of a thousand.
  case item(String)

  /// For example `group 3 of "deciles": "p90" is missing or out of range`.
  package var description: String {
    switch self {
    case .json(let error): "the file is not JSON: \(error)"
    case .missing(let name): "\"\(name)\" is missing or empty"
    case .group(let index, let member):
      "group \(index) of \"deciles\": \"\(member)\" is missing or out of range"
    case .item(let id):
      "the curve of the item \"\(id)\" is not a list of pairs of rising milliseconds and "
        + "falling shares of 1000"
    }
  }
}

extension [WatchPoint] {
  /// Draws the time for which a person watches: linear between the points, beginning with a thousand people.
  /// Those who are still there at the last point leave then.
  func draw(_ random: inout LabRandom) -> Int {
    let drawn = random.number(below: 1_000_000)
    var before = (time: 0, share: 1_000_000)
    for point in self {
      let share = point.permille * 1_000
      if share <= drawn {
        let fall = before.share - share
        return before.time + (point.milliseconds - before.time) * (before.share - drawn) / fall
      }
      before = (point.milliseconds, share)
    }
    return before.time
  }
}
