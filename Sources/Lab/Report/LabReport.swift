/// What was measured as one page that needs nothing else: no other host, no script, every chart drawn here.
public struct LabReport: Sendable {
  /// What the page says of where its numbers come from.
  public struct Origin: Sendable {
    /// What was scrolled, in words.
    public var feed: String
    /// By whom, in words.
    public var viewer: String
    /// When, `2026-11-22`.
    public var date: String
    /// With which program.
    public var program: String
    /// Where recorded networks come from, in words; empty where there are none.
    public var traces: String
    /// What a gigabyte costs, in hundredths of money.
    public var gigabyteCents: Int

    /// These words.
    public init(
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
  public struct Grid: Sendable {
    /// One setting: a maximum cost, and what a video and an image count.
    public struct Setting: Hashable, Sendable {
      /// The weights of what loads at once add up to no more.
      public let maxCost: Int
      /// What a video counts.
      public let videoCost: Int
      /// What an image counts.
      public let imageCost: Int

      /// A setting.
      public init(maxCost: Int, videoCost: Int, imageCost: Int) {
        self.maxCost = maxCost
        self.videoCost = videoCost
        self.imageCost = imageCost
      }
    }

    /// The settings, in the order of the results' contestants.
    public let settings: [Setting]
    /// What they measured.
    public let results: ExperimentResults

    /// A grid of these settings, as many as the results have contestants.
    public init(_ settings: [Setting], _ results: ExperimentResults) {
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
  /// What the simulation was held against; `nil` where nobody did.
  public var validation: Validation?

  /// The report of an experiment.
  ///
  /// - Parameters:
  ///   - results: of the experiment.
  ///   - prices: which of the contestants are ours with another price: their places.
  ///   - told: which contestant's first run on the first network is drawn as it went.
  public init(
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

  /// The networks that have charts of their own: of many, all together and the first few.
  var places: [(name: String, network: Int?)] {
    let each = results.networks.enumerated().prefix(Self.chartedNetworks)
      .map { (name: $1, network: Int?.some($0)) }
    return results.networks.count > 1 ? [(name: "all networks", network: nil)] + each : each
  }

  private static let chartedNetworks = 6

  /// `A`, `B`, … `Z`, `AA`: what charts call a contestant.
  static func letter(_ contestant: Int) -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ").map(String.init)
    let last = letters[contestant % letters.count]
    return contestant < letters.count ? last : letter(contestant / letters.count - 1) + last
  }

  /// The page.
  ///
  /// - Parameter styleHash: the SHA-256 of `style` in base64: the page's policy allows that style and nothing
  ///   else.
  public func html(styleHash: String) -> String {
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
      section.element("h2", "Where these numbers come from")
      section.element(
        "p",
        """
        \(origin.program), \(origin.date). Simulated: the feed is \(origin.feed); people are \(origin.viewer); \
        \(results.items) items a run, \(results.repeats) runs of each strategy on each network, seed \(seed). \
        All strategies see the same people, feeds and moments of the network. Intervals are of 95 % and hold \
        whenever one looks; over several networks each network counts as one value. The same command gives \
        the same page, to the byte.
        """)
      if !origin.traces.isEmpty {
        section.element(
          "p",
          """
          Recorded networks: \(origin.traces). A network that was recorded while somebody loaded by a policy of \
          their own shows what that policy got, which is no more than the network had.
          """)
      }
    }
  }
}
