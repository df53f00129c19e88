/// How long a frame of an animation is shown.
enum AnimationDelay {
  /// A frame that asks for 10 ms or less is shown for 100, in all browsers: animations of times when nothing
  /// was faster mean no more by it.
  static func shown(_ milliseconds: Int) -> Int64 { milliseconds <= 10 ? 100 : Int64(milliseconds) }
}
