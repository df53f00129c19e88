/// How wide clients show files, in their own pixels. Of all widths there are few, so that clients share
/// pages: each is taken as the next larger of these.
enum DisplayWidth {
  /// Those of the ladders of `media renditions`, and what is beyond them.
  static let steps = [160, 320, 480, 640, 960, 1_280, 1_920, 2_560, 16_384]

  /// The step that is as wide.
  static func atLeast(_ pixels: Int) -> Int {
    steps.first { $0 >= pixels } ?? steps[steps.count - 1]
  }
}
