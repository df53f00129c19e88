/// The results of an experiment as one self-contained page: no other host, no script, every chart drawn here.
package struct LabReport: Sendable {
  /// The origin of the page's numbers.
  package struct Origin: Sendable {
    /// The feed, in words.
    package var feed: String
    /// The viewers, in words.
    package var viewer: String
    /// The date, such as `2026-11-22`.
    package var date: String
    /// The program.
    package var program: String
    /// The origin of recorded networks, in words; empty if there are none.
    package var traces: String
    /// The price of a gigabyte, in hundredths of a unit of money.
    package var gigabyteCents: Int

    /// Creates an origin.
    package init(
      feed: String, viewer: String, date: String, program: String, traces: String = "",
      gigabyteCents: Int
    ) {
      self.feed = feed
      self.viewer = viewer
      self.date = date
      self.program = program
      self.traces = traces
      self.gigabyteCents = gigabyteCents
    }
  }

  /// A grid of settings of the weighted strategy, measured on the first network.
  package struct Grid: Sendable {
    /// One setting: a maximum cost, and the costs of a video and an image.
    package struct Setting: Hashable, Sendable {
      /// The maximum sum of the costs of what loads at once.
      package let maxCost: Int
      /// The cost of a video.
      package let videoCost: Int
      /// The cost of an image.
      package let imageCost: Int

      /// Creates a setting.
      package init(maxCost: Int, videoCost: Int, imageCost: Int) {
        self.maxCost = maxCost
        self.videoCost = videoCost
        self.imageCost = imageCost
      }
    }

    /// The settings, in the order of the results' contestants.
    package let settings: [Setting]
    /// The results of the settings.
    package let results: ExperimentResults

    /// Creates a grid; there are as many settings as the results have contestants.
    package init(_ settings: [Setting], _ results: ExperimentResults) {
      precondition(settings.count == results.contestants.count)
      self.settings = settings
      self.results = results
    }
  }

  let origin: Origin
  let results: ExperimentResults
  let prices: [Int]
  let grid: Grid?
  let timeline: RunTimeline
  let timelineName: String
  let margin: Double
  let seed: UInt64
  /// The comparison of the simulation with the client library; `nil` if there is none.
  package var validation: Validation?

  /// Creates the report of an experiment.
  ///
  /// - Parameters:
  ///   - results: the results of the experiment.
  ///   - prices: the indices of the contestants that are ours with another price.
  ///   - told: the index of the contestant whose first run on the first network is drawn.
  package init(
    _ origin: Origin, _ experiment: Experiment, _ results: ExperimentResults, prices: [Int],
    grid: Grid?, told contestant: Int, margin: Double
  ) {
    self.origin = origin
    self.results = results
    self.prices = prices
    self.grid = grid
    self.margin = margin
    seed = experiment.seed
    timeline = experiment.timeline(contestant: contestant, network: 0, repeat: 0)
    timelineName = "\(results.contestants[contestant]) on \(results.networks[0])"
  }

  /// The networks with charts of their own: of many, all together and the first few.
  var places: [(name: String, network: Int?)] {
    let each = results.networks.enumerated().prefix(Self.chartedNetworks)
      .map { (name: $1, network: Int?.some($0)) }
    return results.networks.count > 1 ? [(name: "all networks", network: nil)] + each : each
  }

  private static let chartedNetworks = 6

  /// The name of a contestant in charts: `A`, `B`, … `Z`, `AA`.
  static func letter(_ contestant: Int) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ").map(String.init)
    let last = letters[contestant % letters.count]
    return contestant < letters.count ? last : letter(contestant / letters.count - 1) + last
  }

  /// The page.
  ///
  /// - Parameter styleHash: the SHA-256 of `style` in base64. The page's policy allows this style alone.
  package func html(styleHash: String) -> String {
    var page = Markup()
    page.element("html", ["lang": "en"]) { page in
      page.element("head") { head in
        head.mark("meta", ["charset": "utf-8"])
        head.mark(
          "meta",
          [
            "http-equiv": "Content-Security-Policy",
            "content":
              "default-src 'none'; style-src 'sha256-\(styleHash)'; base-uri 'none'; form-action 'none'",
          ])
        head.mark(
          "meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        head.mark("meta", ["name": "color-scheme", "content": "light dark"])
        head.element("title", "Lookahead lab: \(results.networks.joined(separator: ", "))")
        head.element("style") { $0.add(Self.styleMarkup) }
      }
      page.element("body") { body in
        body.element("main") { main in
          head(&main)
          tradeoffs(&main)
          quality(&main)
          price(&main)
          networks(&main)
          waits(&main)
          heatMaps(&main)
          told(&main)
          table(&main)
          held(&main)
          origins(&main)
        }
      }
    }
    return "<!DOCTYPE html>\n" + page.text
  }

  private func head(_ main: inout Markup) {
    main.element("h1", "How often people wait")
    main.element("p", ["class": "lead"], summary)
  }

  private func origins(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "Method")
      section.element(
        "p",
        """
        \(origin.program), \(origin.date). Simulated: the feed is \(origin.feed); viewers: \
        \(origin.viewer); \(results.items) items a run, \(results.repeats) runs of each strategy \
        on each network, seed \(seed). All strategies see the same viewers, feeds and network \
        conditions. Intervals are of 95 % and valid at any time; with several networks, each \
        network counts as one value. The same command gives the same page, byte for byte.
        """)
      if !origin.traces.isEmpty {
        section.element(
          "p",
          """
          Recorded networks: \(origin.traces). A network that was recorded while a client loaded \
          by a policy of its own shows what that policy received, which is at most what the \
          network had.
          """)
      }
    }
  }
}

extension LabReport {
  /// The page's style, whose hash `html(styleHash:)` takes.
  package static let style = """

    :root { color-scheme: light dark; --ink: #1b1f24; --soft: #5b6470; --paper: #ffffff; --line: #d8dde3;
      --ours: #b3261e; --front: #0b57d0; --dot: #5b6470; --wait: #b3261e; --load: #0b57d0; --cut: #9a6b00; }
    @media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #a3adb8; --paper: #14171a;
      --line: #353b42; --ours: #ff8a80; --front: #8ab4f8; --dot: #a3adb8; --wait: #ff8a80; --load: #8ab4f8;
      --cut: #e0b050; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--paper); color: var(--ink);
      font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
    main { max-width: 72rem; margin: 0 auto; padding: 1rem; }
    h1 { font-size: 1.7rem; line-height: 1.2; margin: 0.5rem 0; }
    h2 { font-size: 1.2rem; margin: 2.2rem 0 0.5rem; }
    p, li { max-width: 44rem; }
    .lead { font-size: 1.1rem; }
    .charts { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }
    .wide { display: none; }
    .narrow { max-width: 30rem; }
    @media (min-width: 42rem) { .wide { display: block; } .narrow { display: none; } }
    .legend { columns: 16rem; overflow-wrap: anywhere; margin: 0 0 1rem; padding-left: 2.2rem; }
    figure { margin: 0; break-inside: avoid; }
    figcaption { color: var(--soft); font-size: 0.9rem; }
    svg { display: block; width: 100%; height: auto; }
    svg text { font: 11px system-ui, sans-serif; fill: var(--soft); }
    svg .end { text-anchor: end; }
    svg .mid { text-anchor: middle; }
    svg .name { font-style: italic; }
    svg .key { fill: var(--ink); }
    svg .halo { stroke: var(--paper); stroke-width: 3px; paint-order: stroke; }
    svg .lead { stroke: var(--soft); stroke-width: 0.7; }
    svg .grid { stroke: var(--line); }
    svg .dot { fill: var(--dot); }
    svg .ours { fill: var(--ours); }
    svg .front { fill: none; stroke: var(--front); stroke-width: 1.5; }
    svg .priced { fill: none; stroke: var(--ours); stroke-width: 1.5; stroke-dasharray: 4 3; }
    svg .other { fill: none; stroke: var(--dot); stroke-width: 1.2; }
    svg .bound { fill: none; stroke: var(--cut); stroke-width: 1.5; }
    svg .best { fill: none; stroke: var(--ours); stroke-width: 2; }
    svg .span { stroke: var(--dot); stroke-width: 2; }
    svg .cell { fill: var(--wait); }
    svg .edge { fill: none; stroke: var(--line); }
    svg .seen { fill: none; stroke: var(--ink); stroke-width: 1.5; }
    svg .load { stroke: var(--load); stroke-width: 2.5; }
    svg .cut { stroke: var(--cut); stroke-width: 2.5; }
    svg .wait { stroke: var(--wait); stroke-width: 5; }
    .scroll { overflow: auto; max-height: 34rem; border: 1px solid var(--line); border-radius: 0.4rem; }
    .scroll:focus-visible { outline: 2px solid var(--front); outline-offset: 2px; }
    .scroll th { position: sticky; top: 0; background: var(--paper); }
    table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums; }
    th, td { padding: 0.25rem 0.6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
    th { color: var(--soft); font-weight: 600; }
    th.text, td.text { text-align: left; }
    tr.ours td { color: var(--ours); }
    @media print { :root { --ink: #000; --soft: #444; --paper: #fff; --line: #bbb; --ours: #a00; --front: #04a;
      --dot: #444; --wait: #a00; --load: #04a; --cut: #850; color-scheme: light; }
      body { font-size: 10pt; } main { max-width: none; padding: 0; } .scroll { overflow: visible; max-height: none; border: 0; }
      table { font-size: 7pt; } th, td { padding: 0.1rem 0.2rem; } tr, section { break-inside: avoid; }
      h2, h3, h2 + p, tbody tr:nth-child(-n+4) { break-after: avoid; }
      .charts { grid-template-columns: repeat(2, 1fr); } .charts svg { max-height: 8.5cm; } }

    """

  /// The style as markup, without escaping: it has no text of a person.
  static var styleMarkup: Markup {
    var markup = Markup()
    markup.addTrusted(style)
    return markup
  }
}

/// One run over time: the transfers, and the place of the viewer.
extension LabReport {
  /// The length of the drawn part of the run.
  private static let shownMilliseconds = 30_000

  func told(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "One run, as it went")
      section.element(
        "p",
        """
        \(timelineName), its first \(Self.shownMilliseconds / 1_000) seconds: the line is the \
        viewer, moving from item to item; blue marks fetched parts of an item, ochre marks \
        cancelled or timed-out transfers, red marks the viewer's waits.
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

/// The comparison of the simulation with the client library, if it was measured.
extension LabReport {
  func held(_ main: inout Markup) {
    guard let validation else { return }
    main.element("section") { section in
      section.element("h2", "Comparison with the client library")
      section.element(
        "p",
        "The same strategies over real sockets and a shaped link, compared with the simulation: "
          + validation.sentence + ".")
      section.element("div", Self.scroll("Comparison with the client library")) { scroll in
        scroll.element("table") { table in
          table.element("tr") { row in
            row.element("th", ["class": "text"], "strategy")
            for title in [
              "loaders, measured", "simulated", "off by %", "delay ms", "simulated", "KB/item",
              "simulated",
            ] {
              row.element("th", title)
            }
          }
          for pair in validation.pairs {
            table.element("tr") { row in
              row.element("td", ["class": "text"], pair.name)
              for number in [
                pair.measuredLoaders, pair.simulatedLoaders, pair.errorPercent,
                pair.measuredDelay, pair.simulatedDelay, pair.measuredKilobytes,
                pair.simulatedKilobytes,
              ] { row.element("td", number.map { fixed($0, 1) } ?? "") }
            }
          }
        }
      }
    }
  }
}
