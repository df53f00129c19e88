/// The frame of a chart: two axes from 0, with round numbers at their ticks.
struct ChartFrame: Sendable {
  /// The size of a chart: that of a phone's screen (wider pages show several side by side), or that of a wide
  /// page for a single chart. Letters are as large in both.
  enum Size: Sendable {
    case narrow, wide

    var width: Double { self == .narrow ? 360 : 760 }
  }

  let width: Double
  let height: Double
  let left = 44.0
  let right = 18.0
  let top = 24.0
  let bottom = 34.0
  let x: ChartAxis
  let y: ChartAxis

  init(x: ChartAxis, y: ChartAxis, _ size: Size, height: Double? = nil) {
    (self.x, self.y, width) = (x, y, size.width)
    self.height = height ?? (size == .narrow ? 260 : 340)
  }

  func place(x value: Double) -> Double {
    left + (width - left - right) * x.share(value)
  }

  func place(y value: Double) -> Double {
    height - bottom - (height - top - bottom) * y.share(value)
  }

  /// An SVG with the axes, and what `draw` adds between them.
  ///
  /// - Parameter title: a description for people who do not see it.
  func chart(_ title: String, _ draw: (inout Markup) -> Void) -> Markup {
    var markup = Markup()
    markup.element(
      "svg",
      [
        "viewBox": "0 0 \(fixed(width, 0)) \(fixed(height, 0))", "role": "img",
        "xmlns": "http://www.w3.org/2000/svg",
      ]
    ) { svg in
      svg.element("title", title)
      for tick in y.ticks {
        let at = fixed(place(y: tick), 1)
        svg.mark(
          "line",
          [
            "class": "grid", "x1": fixed(left, 0), "x2": fixed(width - right, 0), "y1": at,
            "y2": at,
          ])
        svg.element(
          "text",
          ["class": "end", "x": fixed(left - 5, 0), "y": fixed(place(y: tick) + 4, 1)],
          y.label(tick))
      }
      for tick in x.ticks {
        svg.element(
          "text",
          [
            "class": "mid", "x": fixed(place(x: tick), 1), "y": fixed(height - bottom + 14, 1),
          ], x.label(tick))
      }
      svg.element(
        "text",
        ["class": "end name", "x": fixed(width - right, 0), "y": fixed(height - 4, 0)],
        x.name)
      svg.element("text", ["class": "name", "x": "2", "y": "10"], y.name)
      draw(&svg)
    }
    return markup
  }

  /// The points of a polyline.
  func line(_ points: [(x: Double, y: Double)]) -> String {
    points.map { "\(fixed(place(x: $0.x), 1)),\(fixed(place(y: $0.y), 1))" }.joined(separator: " ")
  }
}

/// An axis from 0 to a round number.
struct ChartAxis: Sendable {
  let name: String
  let end: Double
  let ticks: [Double]
  private let decimals: Int
  private let isRoot: Bool

  /// Creates an axis for values up to this.
  init(_ name: String, upTo most: Double) {
    self.name = name
    isRoot = false
    var step = 1.0
    let most = most.isFinite && most > 0 ? most : 1
    while most / step > 6 { step *= 10 }
    while most / step <= 0.6 { step /= 10 }
    // 1, 2 or 5 times a power of ten: at most six steps.
    for part in [0.1, 0.2, 0.5, 1] where most / (step * part) <= 6 {
      step *= part
      break
    }
    let count = (most / step).rounded(.up)
    end = step * count
    ticks = (0...Int(count)).map { Double($0) * step }
    decimals = step >= 1 ? 0 : step >= 0.1 ? 1 : 2
  }

  /// Creates an axis of square roots, which shows small values beside large ones.
  init(rootOf name: String, upTo most: Double) {
    self.name = name
    isRoot = true
    decimals = 0
    let most = most.isFinite ? min(max(most, 10), 1e9) : 10
    var (power, rounds) = (1.0, [0.0])
    while rounds[rounds.count - 1] < most {
      for part in [1.0, 2, 5] where rounds[rounds.count - 1] < most { rounds.append(part * power) }
      power *= 10
    }
    let end = rounds[rounds.count - 1]
    self.end = end
    // From the end on; none is too near to the one before, or to 0.
    var last = 2.0
    ticks = rounds.reversed().filter { tick in
      let place = (tick / end).squareRoot()
      guard tick == 0 || min(last - place, place) >= 0.09 else { return false }
      last = place
      return true
    }.reversed()
  }

  /// The place of a value: 0 at the beginning, 1 at the end.
  func share(_ value: Double) -> Double {
    let share = min(max(value / end, 0), 1)
    return isRoot ? share.squareRoot() : share
  }

  func label(_ tick: Double) -> String { fixed(tick, decimals) }
}

/// Finds places for the letters of points, so that no letter covers another or a point.
struct ChartLabels {
  private struct Box {
    let x: ClosedRange<Double>
    let y: ClosedRange<Double>

    func overlaps(_ other: Box) -> Bool { x.overlaps(other.x) && y.overlaps(other.y) }
  }

  /// The place of a letter, and whether a line has to connect it with its point.
  struct Place: Hashable {
    let x: Double
    /// The baseline.
    let y: Double
    /// The point, if it is not beside the letter.
    let from: Point?
  }

  struct Point: Hashable {
    let x: Double
    let y: Double
  }

  private var taken: [Box]
  private let bounds: Box

  private static let letterWidth = 7.5
  private static let letterHeight = 10.0
  private static let radius = 4.0
  private static let steps = 40

  /// Creates the places of a chart with these points and without letters.
  init(_ frame: ChartFrame, points: [Point] = []) {
    bounds = Box(x: 0...frame.width, y: 0...(frame.height - frame.bottom))
    taken = points.map {
      Box(
        x: ($0.x - Self.radius)...($0.x + Self.radius),
        y: ($0.y - Self.radius)...($0.y + Self.radius))
    }
  }

  /// Finds the place of a letter beside one of these points, the first if possible, or else further away.
  mutating func place(_ letter: String, beside points: [Point]) -> Place {
    let width = Self.letterWidth * Double(letter.utf8.count)
    for step in 0..<Self.steps {
      let distance = Self.radius + 1 + Double(step) * 6
      for point in points {
        for (right, down) in Self.directions {
          // The corner or the middle of an edge that is nearest to the point.
          let left = point.x + right * distance - (1 - right) / 2 * width
          let foot = point.y + down * distance + (1 + down) / 2 * Self.letterHeight
          let box = Box(x: left...(left + width), y: (foot - Self.letterHeight)...foot)
          guard box.x.lowerBound >= bounds.x.lowerBound, box.x.upperBound <= bounds.x.upperBound,
            box.y.lowerBound >= bounds.y.lowerBound, box.y.upperBound <= bounds.y.upperBound,
            !taken.contains(where: box.overlaps)
          else { continue }
          taken.append(box)
          return Place(x: left, y: foot - 1, from: step > 0 ? point : nil)
        }
      }
    }
    return Place(x: points[0].x + Self.radius, y: points[0].y - Self.radius, from: nil)
  }

  private static let directions: [(right: Double, down: Double)] = [
    (1, -1), (1, 0), (1, 1), (0, -1), (0, 1), (-1, -1), (-1, 0), (-1, 1),
  ]
}

extension Markup {
  /// Adds a letter of a chart at its place.
  mutating func letter(_ letter: String, at place: ChartLabels.Place) {
    if let point = place.from {
      mark(
        "line",
        [
          "class": "lead", "x1": fixed(point.x, 1), "y1": fixed(point.y, 1),
          "x2": fixed(place.x + 3, 1), "y2": fixed(place.y - 4, 1),
        ])
    }
    element(
      "text", ["class": "key halo", "x": fixed(place.x, 1), "y": fixed(place.y, 1)], letter)
  }
}
