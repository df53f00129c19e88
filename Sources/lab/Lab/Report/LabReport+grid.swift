/// The grid of settings as heat maps: one for each maximum cost.
extension LabReport {
  func heatMaps(_ main: inout Markup) {
    guard let grid else { return }
    let network = grid.results.networks.count == 1 ? 0 : nil
    let loaders = grid.settings.indices.map {
      grid.results.interval($0, on: network, .loaders).mean
    }
    let (least, most) = (loaders.min() ?? 0, loaders.max() ?? 1)
    let maxCosts = Set(grid.settings.map(\.maxCost)).sorted()
    main.element("section") { section in
      section.element("h2", "The weighted strategy by setting")
      section.element(
        "p",
        "Loaders per 1000 on \(grid.results.networks.joined(separator: ", ")): one map per "
          + "maximum cost; redder is more, from \(fixed(least, 1)) to \(fixed(most, 1)).")
      let captions = maxCosts.map { "at most a cost of \($0) at once" }
      charts(&section, captions) { map(grid, maxCosts[$0], loaders, least, most, $1) }
    }
  }

  private func map(
    _ grid: Grid, _ maxCost: Int, _ loaders: [Double], _ least: Double, _ most: Double,
    _ size: ChartFrame.Size
  ) -> Markup {
    let places = grid.settings.indices.filter { grid.settings[$0].maxCost == maxCost }
    let videos = Set(places.map { grid.settings[$0].videoCost }).sorted()
    let images = Set(places.map { grid.settings[$0].imageCost }).sorted()
    let (left, top) = (64.0, 30.0)
    let width = (size.width - left - 4) / Double(max(1, images.count))
    let height = min(44, width)
    var svg = Markup()
    let all = top + height * Double(videos.count) + 4
    svg.element(
      "svg",
      [
        "viewBox": "0 0 \(fixed(size.width, 0)) \(fixed(all, 0))", "role": "img",
        "xmlns": "http://www.w3.org/2000/svg",
      ]
    ) { svg in
      svg.element("title", "Loaders at a maximum cost of \(maxCost)")
      for (column, image) in images.enumerated() {
        svg.element(
          "text",
          ["class": "mid", "x": fixed(left + width * (Double(column) + 0.5), 1), "y": "22"],
          "image \(image)")
      }
      for (row, video) in videos.enumerated() {
        let y = top + height * Double(row)
        svg.element(
          "text", ["class": "end", "x": fixed(left - 6, 0), "y": fixed(y + height / 2 + 4, 1)],
          "video \(video)")
        for (column, image) in images.enumerated() {
          let place = places.first {
            grid.settings[$0].videoCost == video && grid.settings[$0].imageCost == image
          }
          guard let place else { continue }
          let x = left + width * Double(column)
          let share = (loaders[place] - least) / max(most - least, 1e-9)
          let box: KeyValuePairs = [
            "class": "cell", "x": fixed(x + 1, 1), "y": fixed(y + 1, 1),
            "width": fixed(width - 2, 1), "height": fixed(height - 2, 1),
            "fill-opacity": fixed(0.05 + 0.5 * share, 2),
          ]
          svg.mark("rect", box)
          svg.element(
            "text",
            [
              "class": "mid key", "x": fixed(x + width / 2, 1), "y": fixed(y + height / 2 + 4, 1),
            ], fixed(loaders[place], 1))
        }
      }
    }
    return svg
  }
}
