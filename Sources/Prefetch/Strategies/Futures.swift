/// What is known of how the person goes through the feed, and what may therefore come.
struct Futures: Equatable, Codable {
  /// They are to be drawn anew before they are asked.
  var areDue = true
  /// The random numbers' state (SplitMix64; Steele, Lea, Flood 2014).
  private var state: UInt64 = 0
  /// How long pictures, and clips, were looked at lately.
  private var stillDwells: [Int] = []
  private var clipDwells: [Int] = []

  mutating func begin(seed: Int, itemsPerMinute: Int) {
    state = UInt64(clamping: seed)
  }

  mutating func note(dwellMilliseconds: Int, ofClip: Bool, step: Int) {}
}
