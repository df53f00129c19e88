/// Stalls against quality, if clips have several bitrates: what more of the one costs of the other.
extension LabReport {
  func quality(_ main: inout Markup) {
    guard results.hasBitrates else { return }
    main.element("section") { section in
      section.element("h2", "Stalls against quality")
      section.element(
        "p",
        """
        Each dot is a strategy; further right is a higher watched bitrate, further down is less \
        lost time: waiting, standing and stalls. The line joins the strategies that no other beats \
        in both. The dashed line is the least delay that any policy can have, at any bitrate.
        """)
      charts(&section, places.map(\.name)) {
        frontier(places[$0], $1, "Delay", .delayMilliseconds, bound: .delayMilliseconds)
      }
      section.element(
        "p",
        "The same for clips of 1000 with a wait or a stall. No policy has fewer than the dashed "
          + "line, which counts loaders only."
      )
      charts(&section, places.map(\.name)) {
        frontier(places[$0], $1, "Stalled clips", .stalledClips, bound: .loaders)
      }
    }
  }

  /// The measures of one contestant: the bitrate, and what was lost.
  private struct Quality {
    let contestant: Int
    let kilobits: Double
    let lost: Double
  }

  /// The points for which no other has lost less at the same or a higher bitrate, by falling bitrate.
  private static func front(_ points: [Quality]) -> [Quality] {
    var front: [Quality] = []
    for point in points.sorted(by: {
      (-$0.kilobits, $0.lost, $0.contestant) < (-$1.kilobits, $1.lost, $1.contestant)
    }) where point.lost < front.last?.lost ?? .infinity {
      front.append(point)
    }
    return front
  }

  private func frontier(
    _ place: (name: String, network: Int?), _ size: ChartFrame.Size, _ title: String,
    _ measure: RunFigures.Measure, bound leastMeasure: RunFigures.Measure
  ) -> Markup {
    func mean(_ contestant: Int, _ measure: RunFigures.Measure) -> Double {
      results.interval(contestant, on: place.network, measure).mean
    }
    let points = results.contestants.indices.map {
      Quality(
        contestant: $0, kilobits: mean($0, .bitrateKilobitsPerSecond),
        lost: mean($0, measure))
    }
    let bound = results.bound(on: place.network, leastMeasure) ?? 0
    let frame = ChartFrame(
      x: ChartAxis("kbit/s", upTo: points.map(\.kilobits).max() ?? 1),
      y: ChartAxis(rootOf: measure.words, upTo: points.map(\.lost).max() ?? 1), size)
    let places = points.map {
      ChartLabels.Point(x: frame.place(x: $0.kilobits), y: frame.place(y: $0.lost))
    }
    return frame.chart("\(title) against bitrate on \(place.name)") { svg in
      svg.element(
        "polyline",
        [
          "class": "bound", "stroke-dasharray": "4 3",
          "points": frame.line([(0, bound), (frame.x.end, bound)]),
        ]
      ) { $0.element("title", "no policy has less than \(fixed(bound, 1)) \(measure.words)") }
      svg.mark(
        "polyline",
        [
          "class": "front",
          "points": frame.line(Self.front(points).map { ($0.kilobits, $0.lost) }),
        ])
      for (point, place) in zip(points, places) {
        svg.element(
          "circle",
          [
            "class": isOurs(point.contestant) ? "ours" : "dot", "cx": fixed(place.x, 1),
            "cy": fixed(place.y, 1), "r": "4",
          ]
        ) { circle in
          circle.element(
            "title",
            "\(results.contestants[point.contestant]): \(fixed(point.kilobits, 0)) kbit/s, "
              + "\(fixed(mean(point.contestant, .delayMilliseconds), 1)) ms of delay an item, "
              + "\(fixed(mean(point.contestant, .stalledClips), 0)) stalled clips per 1000, "
              + "\(fixed(mean(point.contestant, .wastedMegabytes), 2)) MB wasted and "
              + "\(fixed(mean(point.contestant, .challengePoints), 1)) points per seven"
          )
        }
      }
      var labels = ChartLabels(frame, points: places)
      for (point, place) in zip(points, places) {
        let letter = Self.letter(point.contestant)
        svg.letter(letter, at: labels.place(letter, beside: [place]))
      }
    }
  }
}
