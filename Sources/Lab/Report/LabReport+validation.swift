/// The simulation beside the client library, where somebody measured that.
extension LabReport {
  func held(_ main: inout Markup) {
    guard let validation else { return }
    main.element("section") { section in
      section.element("h2", "Held against the client library")
      section.element(
        "p",
        "The same strategies for real, over sockets and a shaped link, beside the simulation: "
          + validation.sentence + ".")
      section.element("div", Self.scroll("Held against the client library")) { scroll in
        scroll.element("table") { table in
          table.element("tr") { row in
            row.element("th", ["class": "text"], "strategy")
            for title in ["loaders, measured", "simulated", "off by %", "KB/item", "simulated"] {
              row.element("th", title)
            }
          }
          for pair in validation.pairs {
            table.element("tr") { row in
              row.element("td", ["class": "text"], pair.name)
              for number in [
                pair.measuredLoaders, pair.simulatedLoaders, pair.errorPercent,
                pair.measuredKilobytes, pair.simulatedKilobytes,
              ] { row.element("td", fixed(number, 1)) }
            }
          }
        }
      }
    }
  }
}
