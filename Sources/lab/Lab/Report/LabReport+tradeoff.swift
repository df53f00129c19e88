/// Loaders against bytes: which settings nobody should choose, and what the others cost.
extension LabReport {
  /// What one contestant measured, over one network or all.
  struct Point: Hashable, Sendable {
    let contestant: Int
    let kilobytes: Double
    let loaders: Double
  }

  func points(_ network: Int?, of results: ExperimentResults) -> [Point] {
    results.contestants.indices.map { contestant in
      Point(
        contestant: contestant,
        kilobytes: results.interval(contestant, on: network, .kilobytes).mean,
        loaders: results.interval(contestant, on: network, .loaders).mean)
    }
  }

  /// Those than which no other has fewer loaders for no more bytes: by rising bytes.
  static func front(_ points: [Point]) -> [Point] {
    var front: [Point] = []
    for point in points.sorted(by: {
      ($0.kilobytes, $0.loaders, $0.contestant) < ($1.kilobytes, $1.loaders, $1.contestant)
    }) where point.loaders < front.last?.loaders ?? .infinity {
      front.append(point)
    }
    return front
  }

  func isOurs(_ contestant: Int) -> Bool {
    results.contestants[contestant].hasPrefix("expected-wait")
  }

  func tradeoffs(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "Loaders against bytes")
      section.element(
        "p",
        """
        Each dot is a strategy; further left is fewer bytes, further down fewer loaders. The line joins those \
        that nothing beats in both; above it nobody has to be. Ours, in red, is joined by its price. Loaders are \
        drawn by their square roots, so that few of them show beside many.
        """)
      section.element("ol", ["class": "legend", "type": "A"]) { list in
        for name in results.contestants { list.element("li", name) }
      }
      charts(&section, places.map(\.name)) { tradeoff(places[$0], $1) }
    }
  }

  /// Charts with their captions, side by side; one alone has the width of the page.
  func charts(
    _ section: inout Markup, _ captions: [String], _ chart: (Int, ChartFrame.Size) -> Markup
  ) {
    section.element("div", ["class": "charts"]) { charts in
      for (index, caption) in captions.enumerated() {
        charts.element("figure") { figure in
          if captions.count == 1 {
            figure.element("div", ["class": "narrow"]) { $0.add(chart(index, .narrow)) }
            figure.element("div", ["class": "wide"]) { $0.add(chart(index, .wide)) }
          } else {
            figure.add(chart(index, .narrow))
          }
          figure.element("figcaption", caption)
        }
      }
    }
  }

  private func tradeoff(
    _ place: (name: String, network: Int?), _ size: ChartFrame.Size
  ) -> Markup {
    let points = points(place.network, of: results)
    let frame = ChartFrame(
      x: ChartAxis("KB an item", upTo: points.map(\.kilobytes).max() ?? 1),
      y: ChartAxis(rootOf: "loaders per 1000", upTo: points.map(\.loaders).max() ?? 1), size)
    let places = points.map {
      ChartLabels.Point(x: frame.place(x: $0.kilobytes), y: frame.place(y: $0.loaders))
    }
    return frame.chart("Loaders against bytes on \(place.name)") { svg in
      svg.mark(
        "polyline",
        [
          "class": "front",
          "points": frame.line(Self.front(points).map { ($0.kilobytes, $0.loaders) }),
        ])
      if prices.count > 1 {
        svg.mark(
          "polyline",
          [
            "class": "priced",
            "points": frame.line(prices.map { (points[$0].kilobytes, points[$0].loaders) }),
          ])
      }
      for (point, place) in zip(points, places) {
        svg.element(
          "circle",
          [
            "class": isOurs(point.contestant) ? "ours" : "dot", "cx": fixed(place.x, 1),
            "cy": fixed(place.y, 1), "r": "4",
          ]
        ) { $0.element("title", words(point)) }
      }
      var labels = ChartLabels(frame, points: places)
      for (point, place) in zip(points, places) {
        let letter = Self.letter(point.contestant)
        svg.letter(letter, at: labels.place(letter, beside: [place]))
      }
    }
  }

  func words(_ point: Point) -> String {
    "\(results.contestants[point.contestant]): \(fixed(point.loaders, 1)) loaders per 1000, "
      + "\(fixed(point.kilobytes, 1)) KB an item"
  }

  // MARK: In words

  /// What the page says first.
  var summary: String {
    let place = places[0]
    let points = points(place.network, of: results)
    let fewest = points.min { ($0.loaders, $0.kilobytes) < ($1.loaders, $1.kilobytes) }!
    let ours = points.filter { isOurs($0.contestant) }
    let others = points.filter { !isOurs($0.contestant) }
    let start =
      "Of 1000 items that people came to on \(place.name), fewest were not there with "
      + "\(words(fewest))."
    guard let best = ours.min(by: { ($0.loaders, $0.kilobytes) < ($1.loaders, $1.kilobytes) }),
      !others.isEmpty
    else { return start }
    let beaten = others.filter { $0.loaders >= best.loaders && $0.kilobytes >= best.kilobytes }
    return start + " \(results.contestants[best.contestant]) has no more loaders and no more bytes "
      + "than \(beaten.count) of the \(others.count) other strategies."
  }

  func price(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "What a loader avoided costs")
      section.element(
        "p",
        "Along the line of what nothing beats, each step buys fewer loaders with more bytes. A gigabyte "
          + "is taken to cost \(fixed(Double(origin.gigabyteCents) / 100, 2)).")
      for place in places {
        section.element("h3", place.name)
        section.element("ul") { list in
          for words in steps(place.network) { list.element("li", words) }
        }
      }
    }
  }

  /// Each step of the front in words.
  func steps(_ network: Int?) -> [String] {
    let front = Self.front(points(network, of: results))
    guard let first = front.first else { return [] }
    return ["Least bytes: \(words(first))."]
      + zip(front, front.dropFirst()).map { before, after in
        let bytes = (after.kilobytes - before.kilobytes) * 1_000
        let each = bytes / (before.loaders - after.loaders)
        // Kilobytes for a loader are gigabytes for a million of them.
        let money = each * Double(origin.gigabyteCents) / 100 / 1_000
        return
          "\(words(after)): each loader avoided costs \(fixed(each, 1)) KB more, "
          + "\(fixed(money, 2)) for a thousand of them."
      }
  }
}
