import Statistics

/// All figures as a table: the same as in the output of `lab run` and in its CSV.
extension LabReport {
  func table(_ main: inout Markup) {
    main.element("section") { section in
      section.element("h2", "All figures")
      section.element(
        "p",
        "Means of \(results.repeats) runs; for the definition of each figure, see docs/lab.md "
          + "of the project. The last column compares each strategy with "
          + "\(results.contestants[0]); \(RunBound.name) is the bound that no policy beats, and "
          + "\u{201c}over bound\u{201d} how many more loaders a strategy has.")
      if places.contains(where: { hasUnknownInterval(on: $0.network) }) {
        section.element("p", Self.unknownInterval)
      }
      section.element("div", Self.scroll("All figures")) { scroll in
        scroll.element("table") { table in
          table.element("thead") { $0.element("tr") { head(of: &$0) } }
          table.element("tbody") { body in
            for place in results.places {
              for contestant in results.contestants.indices {
                row(&body, place, contestant)
              }
              bound(&body, place)
            }
          }
        }
      }
    }
  }

  /// The attributes of a part that scrolls by itself, also by keyboard.
  static func scroll(_ name: String) -> KeyValuePairs<String, String> {
    ["class": "scroll", "tabindex": "0", "role": "region", "aria-label": name]
  }

  /// The explanation of an unknown interval.
  static let unknownInterval =
    "A ? means an unknown interval: with fewer than \(SequentialInterval.fewestValues) values, "
    + "no 95 % interval exists. For one network, each run is a value; for all networks, each network."

  private func hasUnknownInterval(on network: Int?) -> Bool {
    results.contestants.indices.contains {
      !results.interval($0, on: network, .loaders).halfWidth.isFinite
    }
  }

  private func head(of row: inout Markup) {
    for title in ["network", "letter", "strategy"] { row.element("th", ["class": "text"], title) }
    for title in ["loaders", "±", "over bound"] + results.columns.map(\.title) {
      row.element("th", title)
    }
    row.element("th", ["class": "text"], "vs first")
  }

  /// Adds the row of the bound that no policy beats.
  private func bound(_ body: inout Markup, _ place: (name: String, network: Int?)) {
    body.element("tr", ["class": "other"]) { row in
      row.element("td", ["class": "text"], place.name)
      row.element("td", ["class": "text"], "")
      row.element("td", ["class": "text"], RunBound.name)
      let columns = [(measure: RunFigures.Measure.loaders, decimals: 1)]
      let others = results.columns.map { (measure: $0.measure, decimals: $0.decimals) }
      for (index, column) in (columns + others).enumerated() {
        let text = results.boundText(place.network, column.measure, column.decimals)
        if text.isEmpty {
          row.element("td", "")
        } else {
          row.element("td", ["data-measure": column.measure.rawValue], text)
        }
        if index == 0 {
          row.element("td", "")
          row.element("td", "")
        }
      }
      row.element("td", ["class": "text"], "")
    }
  }

  private func row(
    _ body: inout Markup, _ place: (name: String, network: Int?), _ contestant: Int
  ) {
    body.element("tr", ["class": isOurs(contestant) ? "ours" : "other"]) { row in
      row.element("td", ["class": "text"], place.name)
      row.element("td", ["class": "text"], Self.letter(contestant))
      row.element("td", ["class": "text"], results.contestants[contestant])
      let loaders = results.interval(contestant, on: place.network, .loaders)
      row.element("td", ["data-measure": "loaders"], fixed(loaders.mean, 1))
      row.element("td") { cell in
        if loaders.halfWidth.isFinite {
          cell.write(fixed(loaders.halfWidth, 1))
        } else {
          cell.element("abbr", ["title": Self.unknownInterval], "?")
        }
      }
      let bound = results.bound(on: place.network, .loaders) ?? 0
      row.element("td", fixed(loaders.mean - bound, 1))
      for column in results.columns {
        let mean = results.interval(contestant, on: place.network, column.measure).mean
        row.element(
          "td", ["data-measure": column.measure.rawValue], fixed(mean, column.decimals))
      }
      let verdict = results.comparison(contestant, on: place.network, margin: margin).verdict
      row.element("td", ["class": "text"], contestant == 0 ? "" : verdict.rawValue)
    }
  }
}
