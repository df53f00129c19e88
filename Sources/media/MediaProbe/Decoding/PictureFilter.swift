import MediaFormats
import ThumbHash

/// The size of a file's pictures.
struct PictureSize {
  /// As displayed.
  let shown: PixelSize
  /// As FFmpeg decodes them.
  let coded: PixelSize
}

/// How FFmpeg makes a small picture of a frame: with square pixels, no side longer than 100, in the frame's
/// own orientation. A picture that is small enough stays as it is, to the pixel.
///
/// It is made smaller by the mean of the areas, as browsers do it, and where it has transparent parts with
/// its colours multiplied by alpha meanwhile: what is not seen gives its colour to nothing.
struct PictureFilter {
  /// Of the frame.
  let size: PictureSize
  /// Before it is turned.
  let (width, height): (Int, Int)
  /// As `ffmpeg -vf` has it.
  let text: String

  /// What a frame takes.
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
      // What the frame leaves free of the canvas shows what is behind it.
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
