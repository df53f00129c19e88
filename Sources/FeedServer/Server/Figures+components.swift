import Compression
import Observability

extension EncodedBodies {
  func register(in registry: PrometheusRegistry) {
    registry.gauge(
      "lookahead_encoded_bodies_bytes", help: "Memory that compressed bodies take."
    ) { self.figures.bytes }
    registry.total(
      "lookahead_encoded_bodies_hits_total", help: "Compressed bodies that were at hand."
    ) { self.figures.hits }
    registry.total(
      "lookahead_encoded_bodies_misses_total", help: "Compressed bodies that were not."
    ) { self.figures.misses }
    registry.total(
      "lookahead_encoded_bodies_evictions_total", help: "Compressed bodies that had to make room."
    ) { self.figures.evictions }
  }
}

extension KeptPages {
  func register(in registry: PrometheusRegistry) {
    registry.gauge("lookahead_pages_bytes", help: "Memory that whole pages take.") {
      self.figures.bytes
    }
    registry.total("lookahead_pages_hits_total", help: "Pages that were at hand whole.") {
      self.figures.hits
    }
    registry.total("lookahead_pages_misses_total", help: "Pages that had to be made.") {
      self.figures.misses
    }
    registry.total("lookahead_pages_evictions_total", help: "Pages that had to make room.") {
      self.figures.evictions
    }
  }
}

extension ItemFile {
  func register(in registry: PrometheusRegistry) {
    registry.gauge("lookahead_item_file_bytes", help: "Length of the file of encoded items.") {
      self.figures.bytes
    }
    registry.gauge("lookahead_item_file_items", help: "Items that it holds.") { self.figures.items }
    registry.total("lookahead_item_file_hits_total", help: "Items of pages that were in it.") {
      self.figures.hits
    }
    registry.total("lookahead_item_file_misses_total", help: "Items of pages that were not.") {
      self.figures.misses
    }
    registry.total("lookahead_item_file_renewals_total", help: "Times that it was begun anew.") {
      self.figures.renewals
    }
    registry.total(
      "lookahead_item_file_failures_total", help: "Times that it could not be written or read."
    ) { self.figures.failures }
  }
}
