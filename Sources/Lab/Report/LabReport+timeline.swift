/// One run as it went: what was under way, and where the viewer was.
extension LabReport {
  /// So much of a run is drawn.
  private static let shownMilliseconds = 30_000

  func told(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "One run, as it went")
      section.element(
        "p",
        """
        \(timelineName), its first \(Self.shownMilliseconds / 1_000) seconds: the line is the viewer, who goes \
        from item to item; blue is what was fetched of an item, ochre what was cancelled or given up, red how \
        long the viewer waited for it.
        """)
      charts(&section, [timelineName]) { run($1) }
    }
  }

  private func run(_ size: ChartFrame.Size) -> Markup {
    let end = Self.shownMilliseconds
    let looks = timeline.looks.filter { $0.atMilliseconds < end }
    let fetches = timeline.fetches.filter { $0.fromMilliseconds < end }
    let last = max(looks.map(\.item).max() ?? 1, fetches.map(\.item).max() ?? 1)
    let frame = ChartFrame(
      x: ChartAxis("seconds", upTo: Double(end) / 1_000), y: ChartAxis("item", upTo: Double(last)),
      size, height: 380)
    func seconds(_ milliseconds: Int) -> Double { Double(min(milliseconds, end)) / 1_000 }
    return frame.chart("A run of \(timelineName)") { svg in
      for fetch in fetches {
        let y = fixed(frame.place(y: Double(fetch.item)), 1)
        let box: KeyValuePairs = [
          "class": fetch.isWhole ? "load" : "cut", "y1": y, "y2": y,
          "x1": fixed(frame.place(x: seconds(fetch.fromMilliseconds)), 1),
          "x2": fixed(frame.place(x: seconds(fetch.untilMilliseconds)), 1),
        ]
        svg.mark("line", box)
      }
      var steps: [(x: Double, y: Double)] = []
      for look in looks {
        if let before = steps.last { steps.append((seconds(look.atMilliseconds), before.y)) }
        steps.append((seconds(look.atMilliseconds), Double(look.item)))
      }
      if let before = steps.last { steps.append((Double(end) / 1_000, before.y)) }
      svg.mark("polyline", ["class": "seen", "points": frame.line(steps)])
      for look in looks where look.hasLoader {
        let y = fixed(frame.place(y: Double(look.item)), 1)
        let until = seconds(look.atMilliseconds + look.waitMilliseconds)
        svg.element(
          "line",
          [
            "class": "wait", "y1": y, "y2": y,
            "x1": fixed(frame.place(x: seconds(look.atMilliseconds)), 1),
            "x2": fixed(
              max(frame.place(x: until), frame.place(x: seconds(look.atMilliseconds)) + 1), 1),
          ]
        ) { $0.element("title", "item \(look.item): \(look.waitMilliseconds) ms") }
      }
    }
  }
}
