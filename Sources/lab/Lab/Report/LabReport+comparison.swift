/// The comparison of the strategies: on each network, and by waiting times.
extension LabReport {
  func networks(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "Network by network")
      section.element(
        "p",
        "Loaders per 1000 items of each strategy with their confidence interval, on a square "
          + "root scale. The vertical line is the bound that no policy beats."
      )
      charts(&section, places.map(\.name)) { intervals(places[$0], $1) }
    }
  }

  private static let rowHeight = 30.0

  private func intervals(
    _ place: (name: String, network: Int?), _ size: ChartFrame.Size
  ) -> Markup {
    let rows = results.contestants.indices.map {
      results.interval($0, on: place.network, .loaders)
    }
    let most = rows.map { $0.mean + ($0.halfWidth.isFinite ? $0.halfWidth : 0) }.max() ?? 1
    let frame = ChartFrame(
      x: ChartAxis(rootOf: "loaders per 1000", upTo: min(most, 1_000)), y: ChartAxis("", upTo: 1),
      size, height: Double(rows.count) * Self.rowHeight + 50)
    let end = frame.place(x: frame.x.end)
    var svg = Markup()
    svg.element(
      "svg",
      [
        "viewBox": "0 0 \(fixed(frame.width, 0)) \(fixed(frame.height, 0))", "role": "img",
        "xmlns": "http://www.w3.org/2000/svg",
      ]
    ) { svg in
      svg.element("title", "Loaders of each strategy on \(place.name)")
      for tick in frame.x.ticks {
        let x = fixed(frame.place(x: tick), 1)
        svg.mark(
          "line",
          ["class": "grid", "x1": x, "x2": x, "y1": "4", "y2": fixed(frame.height - 34, 1)])
        svg.element(
          "text", ["class": "mid", "x": x, "y": fixed(frame.height - 20, 1)], frame.x.label(tick))
      }
      if let bound = results.bound(on: place.network, .loaders) {
        let x = fixed(frame.place(x: bound), 1)
        svg.element(
          "line",
          ["class": "bound", "x1": x, "x2": x, "y1": "4", "y2": fixed(frame.height - 34, 1)]
        ) { $0.element("title", "no policy beats \(fixed(bound, 1)) loaders per 1000") }
      }
      for (contestant, row) in rows.enumerated() {
        let y = Double(contestant) * Self.rowHeight + 24
        svg.element(
          "text", ["class": "key halo", "x": "4", "y": fixed(y - 8, 1)],
          "\(Self.letter(contestant))  \(results.contestants[contestant])")
        if row.halfWidth.isFinite {
          svg.mark(
            "line",
            [
              "class": "span", "x1": fixed(frame.place(x: max(0, row.mean - row.halfWidth)), 1),
              "x2": fixed(min(frame.place(x: row.mean + row.halfWidth), end), 1),
              "y1": fixed(y, 1), "y2": fixed(y, 1),
            ])
        }
        svg.element(
          "circle",
          [
            "class": isOurs(contestant) ? "ours" : "dot", "cx": fixed(frame.place(x: row.mean), 1),
            "cy": fixed(y, 1), "r": "4",
          ]
        ) { circle in
          let width = row.halfWidth.isFinite ? " ± \(fixed(row.halfWidth, 1))" : ""
          circle.element(
            "title", "\(results.contestants[contestant]): \(fixed(row.mean, 1))\(width)")
        }
      }
    }
    return svg
  }

  // MARK: Waits

  private static let waitMeasures: [(milliseconds: Double, measure: RunFigures.Measure)] = [
    (0, .loaders), (100, .waitsOver100Milliseconds), (250, .waitsOver250Milliseconds),
    (500, .waitsOver500Milliseconds), (1_000, .waitsOver1000Milliseconds),
    (2_500, .waitsOver2500Milliseconds), (5_000, .waitsOver5000Milliseconds),
  ]

  func waits(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "Waiting times")
      section.element(
        "p",
        """
        Items of 1000 with a wait longer than this: lower is better, and a line that falls early \
        means short loaders. If viewers view one item a second, no wait is longer than that \
        second.
        """)
      charts(&section, places.map(\.name)) { distribution(places[$0], $1) }
    }
  }

  private func distribution(
    _ place: (name: String, network: Int?), _ size: ChartFrame.Size
  ) -> Markup {
    let lines = results.contestants.indices.map { contestant in
      Self.waitMeasures.map { step in
        (
          x: step.milliseconds,
          y: results.interval(contestant, on: place.network, step.measure).mean
        )
      }
    }
    let longest =
      Self.waitMeasures.indices.last { place in lines.contains { $0[place].y > 0 } } ?? 1
    let shown = min(Self.waitMeasures.count, longest + 2)
    let frame = ChartFrame(
      x: ChartAxis("longer than, in ms", upTo: Self.waitMeasures[shown - 1].milliseconds),
      y: ChartAxis("of 1000 items", upTo: lines.compactMap { $0.first?.y }.max() ?? 1), size)
    return frame.chart("Waits on \(place.name)") { svg in
      for (contestant, line) in lines.enumerated() {
        svg.element(
          "polyline",
          [
            "class": isOurs(contestant) ? "best" : "other",
            "points": frame.line(Array(line.prefix(shown))),
          ]
        ) { $0.element("title", results.contestants[contestant]) }
      }
      var labels = ChartLabels(frame)
      for (contestant, line) in lines.enumerated() {
        // Each line has its letter at another point, so that lines with a common beginning can be told apart.
        let points = line.prefix(shown - 1).map {
          ChartLabels.Point(x: frame.place(x: $0.x), y: frame.place(y: $0.y))
        }
        let turn = contestant % points.count
        let letter = Self.letter(contestant)
        svg.letter(
          letter, at: labels.place(letter, beside: Array(points[turn...] + points[..<turn])))
      }
    }
  }
}
