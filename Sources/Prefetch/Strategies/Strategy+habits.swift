extension Policy.Strategy {
  /// Whether what is wanted no longer rests for a while, since it may be wanted again, or is cancelled at once.
  var pauses: Bool {
    switch self {
    case .weighted, .expectedWait: true
    case .plain, .standard, .endless, .thresholdFixed, .thresholdDynamic, .lazyTarget,
      .rangeController, .stages:
      false
    }
  }

  /// Whether it loads of a clip's start no more than most people watch.
  var limitsStarts: Bool { if case .expectedWait = self { true } else { false } }

  /// Whether it goes by where a fling will stop.
  var followsFlings: Bool {
    switch self {
    case .lazyTarget, .expectedWait: true
    case .plain, .weighted, .standard, .endless, .thresholdFixed, .thresholdDynamic,
      .rangeController, .stages:
      false
    }
  }

  /// The share of measured bandwidths that are below the one that it counts on, in percent.
  var quantilePercent: Int {
    if case .expectedWait(let tuning) = self { tuning.quantilePercent } else { 50 }
  }
}
