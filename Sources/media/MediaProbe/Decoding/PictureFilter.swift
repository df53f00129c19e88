import MediaFormats
import ThumbHash

/// The size of a file's pictures.
struct PictureSize {
  /// The size as displayed.
  let shown: PixelSize
  /// The size as decoded by FFmpeg.
  let coded: PixelSize
}

/// FFmpeg's filter that scales a frame down: to square pixels and sides of at most 100, in the frame's own
/// orientation. A picture that is small enough keeps its exact pixels.
///
/// It averages areas, as browsers do. It scales transparent pictures with premultiplied alpha, so that
/// invisible pixels do not affect the colours of others.
struct PictureFilter {
  /// The size of the frame.
  let size: PictureSize
  /// The size of the output, before the turn.
  let (width, height): (Int, Int)
  /// The filter for `ffmpeg -vf`.
  let text: String

  /// The bytes of an output frame.
  var outputBytes: Int { width * height * 4 }

  init(_ size: PictureSize, _ structure: MediaStructure, still: WebPStill? = nil) {
    self.size = size
    let (shown, coded) = (size.shown, size.coded)
    let swaps = structure.orientation.swapsAxes
    let (fullWidth, fullHeight) =
      swaps ? (shown.height, shown.width) : (shown.width, shown.height)
    let longest = max(fullWidth, fullHeight)
    let limit = PixelImage.largestSide
    func fitted(_ side: Int) -> Int {
      longest <= limit ? side : max(1, (2 * side * limit + longest) / (2 * longest))
    }
    (width, height) = (fitted(fullWidth), fitted(fullHeight))
    var filters: [String] = []
    var hasAlpha = structure.hasAlpha
    if let still, (still.width, still.height) != (coded.width, coded.height) {
      // The canvas around the frame is transparent.
      hasAlpha = true
      filters += [
        "format=rgba", "pad=\(coded.width):\(coded.height):\(still.x):\(still.y):color=black@0",
      ]
    }
    if (width, height) != (coded.width, coded.height) {
      let scale =
        "scale=\(width):\(height):flags=area+accurate_rnd+full_chroma_int+full_chroma_inp+bitexact"
      filters +=
        hasAlpha
        ? ["format=gbrap", "premultiply=inplace=1", scale, "unpremultiply=inplace=1"] : [scale]
    }
    filters.append("format=rgba")
    text = filters.joined(separator: ",")
  }
}
