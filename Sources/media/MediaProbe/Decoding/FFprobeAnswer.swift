import JSON
import MediaFormats

/// The output of ffprobe for a file, checked for plausibility.
struct FFprobeAnswer {
  struct Stream {
    let index: Int
    /// `video`, `audio`, or another.
    let kind: String
    let codec: String?
    /// The coded size; nil if unknown, for which ffprobe prints 0 × 0.
    let codedSize: PixelSize?
    /// The size as displayed: with square pixels, and turned.
    let displaySize: PixelSize?
    /// Whether it is a cover.
    let isCover: Bool
  }

  let durationMilliseconds: Int?
  let streams: [Stream]

  /// The first stream of pictures.
  var picture: Stream? { streams.first { $0.kind == "video" && !$0.isCover } }
  /// The first stream of sound.
  var sound: Stream? { streams.first { $0.kind == "audio" } }

  private static let streamLimit = 256
  /// The maximum duration: more than a year.
  private static let secondLimit = 1e9

  init(_ json: [UInt8]) throws(ProbeError) {
    let root: JSONValue
    do throws(JSONError) {
      root = try JSONDocument(json).root
    } catch {
      throw .unbelievable(program: "ffprobe", "\(error)")
    }
    durationMilliseconds = try Self.milliseconds(root.member("format")?.member("duration"))
    var streams: [Stream] = []
    for value in root.member("streams")?.elements ?? Self.nothing.elements {
      streams.append(try Self.stream(value))
      guard streams.count <= Self.streamLimit else {
        throw .unbelievable(program: "ffprobe", "more than \(Self.streamLimit) streams")
      }
    }
    self.streams = streams
  }

  /// An empty array.
  private static let nothing: JSONValue = {
    do throws(JSONError) {
      return try JSONDocument(Array("[]".utf8)).root
    } catch {
      preconditionFailure("[] is JSON")
    }
  }()

  private static func stream(_ value: JSONValue) throws(ProbeError) -> Stream {
    let width = try number(value.member("width"), in: 0...1_000_000)
    let height = try number(value.member("height"), in: 0...1_000_000)
    var coded: PixelSize?
    if let width, let height, width > 0, height > 0 {
      coded = PixelSize(width: width, height: height)
    }
    var rotation = 0
    for side in value.member("side_data_list")?.elements ?? nothing.elements {
      rotation = try number(side.member("rotation"), in: -360...360) ?? rotation
    }
    return Stream(
      index: try number(value.member("index"), in: 0...1_000_000) ?? 0,
      kind: value.member("codec_type")?.text ?? "",
      codec: value.member("codec_name")?.text.flatMap { $0 == "unknown" ? nil : $0 },
      codedSize: coded,
      displaySize: coded.map {
        displayed($0, pixelShape: value.member("sample_aspect_ratio")?.text, rotation: rotation)
      },
      isCover: value.member("disposition")?.member("attached_pic")?.wholeNumber == 1)
  }

  /// Returns the size as displayed.
  ///
  /// - Parameter pixelShape: the aspect ratio of a pixel, such as `4:3`; `0:1` is unknown.
  private static func displayed(
    _ coded: PixelSize, pixelShape: String?, rotation: Int
  ) -> PixelSize {
    var width = coded.width
    let parts = (pixelShape ?? "").split(separator: ":").compactMap { Int32($0).map(Double.init) }
    if parts.count == 2, parts[0] > 0, parts[1] > 0 {
      let stretched = (Double(coded.width) * parts[0] / parts[1]).rounded()
      if (1...1_000_000).contains(stretched) { width = Int(stretched) }
    }
    return rotation % 180 == 0
      ? PixelSize(width: width, height: coded.height)
      : PixelSize(width: coded.height, height: width)
  }

  /// Parses a whole number, which ffprobe prints as a number or a string; nil if ffprobe does not know it.
  private static func number(
    _ value: JSONValue?, in range: ClosedRange<Int>
  ) throws(ProbeError) -> Int? {
    guard let value, value.text != "N/A" else { return nil }
    guard let number = value.wholeNumber ?? value.text.flatMap({ Int($0) }),
      range.contains(number)
    else {
      throw .unbelievable(program: "ffprobe", "\(value.path) is not a number in \(range)")
    }
    return number
  }

  /// Parses decimal seconds in a string, rounded to milliseconds.
  private static func milliseconds(_ value: JSONValue?) throws(ProbeError) -> Int? {
    guard let text = value?.text, text != "N/A" else { return nil }
    guard let seconds = Double(text), seconds.isFinite, abs(seconds) <= secondLimit else {
      throw .unbelievable(program: "ffprobe", "\"\(text.prefix(40))\" is not a time")
    }
    return Int((seconds * 1000).rounded())
  }
}
