import Feed

extension [Counter] {
  /// These counters after the increments, in the order of their names' bytes. A counter that is not
  /// there starts at zero; a name that comes twice is added twice.
  ///
  /// - Throws: `FeedError.counterOutOfRange` and `FeedError.tooManyCounters`, which name the item.
  public func adding(_ increments: [Counter], ofItem item: String) throws(FeedError) -> [Counter] {
    var counters = self
    for increment in increments {
      let index = counters.firstIndex { $0.name.isSame(as: increment.name) }
      let old = index.map { counters[$0].value } ?? 0
      let (value, isOverflow) = old.addingReportingOverflow(increment.value)
      guard !isOverflow, (-RecordLimits.number...RecordLimits.number).contains(value) else {
        throw .counterOutOfRange(item: item, counter: increment.name)
      }
      if let index {
        counters[index].value = value
      } else {
        counters.append(Counter(increment.name, value))
      }
    }
    // What was stored may be more than the limit; it can still be counted on.
    guard counters.count <= Swift.max(count, RecordLimits.counters) else {
      throw .tooManyCounters(item: item, limit: RecordLimits.counters)
    }
    return counters.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }
}
