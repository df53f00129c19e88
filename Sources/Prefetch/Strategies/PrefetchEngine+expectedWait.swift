extension PrefetchEngine {
  var isNextPageDue: Bool { false }

  mutating func expectedWaitWants(
    _ tuning: WaitTuning, _ active: Int, _ wake: inout Wake
  ) -> [Want] {
    []
  }
}
