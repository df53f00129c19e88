/// Loaders against bytes: which settings are dominated, and what the others cost.
extension LabReport {
  /// The measures of one contestant, on one network or on all.
  struct Point: Hashable, Sendable {
    let contestant: Int
    let kilobytes: Double
    let loaders: Double
    let delay: Double
  }

  func points(_ network: Int?, of results: ExperimentResults) -> [Point] {
    results.contestants.indices.map { contestant in
      Point(
        contestant: contestant,
        kilobytes: results.interval(contestant, on: network, .kilobytes).mean,
        loaders: results.interval(contestant, on: network, .loaders).mean,
        delay: results.interval(contestant, on: network, .delayMilliseconds).mean)
    }
  }

  /// The points for which no other has less (loaders or delay) for the same or fewer bytes, by rising bytes.
  static func front(_ points: [Point], _ value: (Point) -> Double = { $0.loaders }) -> [Point] {
    var front: [Point] = []
    for point in points.sorted(by: {
      ($0.kilobytes, value($0), $0.contestant) < ($1.kilobytes, value($1), $1.contestant)
    }) where value(point) < front.last.map(value) ?? .infinity {
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
        Each dot is a strategy; further left is fewer bytes, further down is fewer loaders. The \
        line joins the strategies that no other beats in both; settings above it are never needed. \
        Ours, in red, is joined in order of price. Loaders are on a square root scale, so that \
        small numbers are visible next to large ones. The diamond is the bound that no policy \
        beats: the fewest loaders with full knowledge of viewers and link, and the fewest bytes \
        for them.
        """)
      section.element("ol", ["class": "legend", "type": "A"]) { list in
        for name in results.contestants { list.element("li", name) }
      }
      charts(&section, places.map(\.name)) {
        tradeoff(places[$0], $1, "Loaders", .loaders) { $0.loaders }
      }
    }
    main.element("section") { section in
      section.element("h2", "Delay against bytes")
      section.element(
        "p",
        """
        Lost time of viewers, in milliseconds an item: waiting for a loader, standing at the first \
        frame of a clip, and stalls. The diamond is the least delay that any policy can have.
        """)
      charts(&section, places.map(\.name)) {
        tradeoff(places[$0], $1, "Delay", .delayMilliseconds) { $0.delay }
      }
    }
  }

  /// Adds charts with their captions, side by side; a single one has the width of the page.
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
    _ place: (name: String, network: Int?), _ size: ChartFrame.Size, _ title: String,
    _ measure: RunFigures.Measure, _ value: (Point) -> Double
  ) -> Markup {
    let points = points(place.network, of: results)
    let bound = (
      kilobytes: results.bound(on: place.network, .kilobytes) ?? 0,
      value: results.bound(on: place.network, measure) ?? 0
    )
    let frame = ChartFrame(
      x: ChartAxis("KB an item", upTo: points.map(\.kilobytes).reduce(bound.kilobytes, max)),
      y: ChartAxis(rootOf: measure.words, upTo: points.map(value).max() ?? 1), size)
    let places = points.map {
      ChartLabels.Point(x: frame.place(x: $0.kilobytes), y: frame.place(y: value($0)))
    }
    let boundPlace = ChartLabels.Point(
      x: frame.place(x: bound.kilobytes), y: frame.place(y: bound.value))
    return frame.chart("\(title) against bytes on \(place.name)") { svg in
      svg.mark(
        "polyline",
        [
          "class": "front",
          "points": frame.line(Self.front(points, value).map { ($0.kilobytes, value($0)) }),
        ])
      if prices.count > 1 {
        svg.mark(
          "polyline",
          [
            "class": "priced",
            "points": frame.line(prices.map { (points[$0].kilobytes, value(points[$0])) }),
          ])
      }
      let (x, y) = (fixed(boundPlace.x, 1), fixed(boundPlace.y, 1))
      svg.element(
        "path", ["class": "bound", "d": "M\(x) \(y)m-6 0l6 -6l6 6l-6 6z"]
      ) {
        $0.element(
          "title",
          "no policy beats \(fixed(bound.value, 1)) \(measure.words), \(fixed(bound.kilobytes, 1)) KB"
        )
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
      var labels = ChartLabels(frame, points: places + [boundPlace])
      for (point, place) in zip(points, places) {
        let letter = Self.letter(point.contestant)
        svg.letter(letter, at: labels.place(letter, beside: [place]))
      }
    }
  }

  func words(_ point: Point) -> String {
    "\(results.contestants[point.contestant]): \(fixed(point.loaders, 1)) loaders per 1000, "
      + "\(fixed(point.delay, 1)) ms of delay and \(fixed(point.kilobytes, 1)) KB an item"
  }

  // MARK: Text

  /// The summary at the top of the page.
  var summary: String {
    let place = places[0]
    let points = points(place.network, of: results)
    let fewest = points.min { ($0.loaders, $0.kilobytes) < ($1.loaders, $1.kilobytes) }!
    let ours = points.filter { isOurs($0.contestant) }
    let others = points.filter { !isOurs($0.contestant) }
    let least = points.min { ($0.delay, $0.kilobytes) < ($1.delay, $1.kilobytes) }!
    let bound = (
      loaders: results.bound(on: place.network, .loaders) ?? 0,
      delay: results.bound(on: place.network, .delayMilliseconds) ?? 0
    )
    let start =
      "Of 1000 viewed items on \(place.name), the fewest were not loaded with "
      + "\(words(fewest)). "
      + (least.contestant == fewest.contestant
        ? "It also has the least delay. " : "The least delay has \(words(least)). ")
      + "No policy can have fewer than \(fixed(bound.loaders, 1)) loaders or less than "
      + "\(fixed(bound.delay, 1)) ms."
    guard let best = ours.min(by: { ($0.loaders, $0.kilobytes) < ($1.loaders, $1.kilobytes) }),
      !others.isEmpty
    else { return start }
    let beaten = others.filter { $0.loaders >= best.loaders && $0.kilobytes >= best.kilobytes }
    return start + " \(results.contestants[best.contestant]) has no more loaders and no more bytes "
      + "than \(beaten.count) of the \(others.count) other strategies."
  }

  func price(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "Cost of an avoided loader")
      section.element(
        "p",
        "Along the line of unbeaten strategies, each step has fewer loaders for more bytes, at "
          + "a price of a gigabyte of \(fixed(Double(origin.gigabyteCents) / 100, 2)).")
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
        // Kilobytes per loader are gigabytes per million loaders.
        let money = each * Double(origin.gigabyteCents) / 100 / 1_000
        return
          "\(words(after)): each avoided loader costs \(fixed(each, 1)) KB more, "
          + "\(fixed(money, 2)) for a thousand of them."
      }
  }
}
