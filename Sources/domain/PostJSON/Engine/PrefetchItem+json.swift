import Feed
import JSON
import Prefetch

/// The limits of the engine's JSON.
public enum PlanLimits {
  /// The items of a state or a page.
  public static let items = 1_000
  /// The items that a state names only by id, each of which a server has to look up.
  public static let namedItems = 200
  /// The files that are listed as held, and the current transfers.
  public static let files = 2_000
  /// The ranges of one file.
  public static let ranges = ByteRangeSet.rangeLimit
  /// The files of one media: the original and its variants.
  public static let variants = 16
  /// A file's key, in bytes of UTF-8.
  public static let keyBytes = RecordLimits.urlBytes
  /// The duration of a chunk of a clip, in milliseconds.
  public static let chunkMilliseconds = 600_000
  /// A line of `lookahead plan`, in bytes.
  public static let lineBytes = 16_777_216
}

extension PrefetchItem {
  private static let known = ["expiresAt", "id", "media", "survival", "type"]

  /// Decodes an item.
  ///
  /// - Throws: `RecordError`, which names the field.
  init(json: JSONValue) throws(RecordError) {
    let fields = try RecordFields(json, known: Self.known)
    self.init(
      id: try fields.name("id", limit: .bytes(RecordLimits.idBytes)),
      type: try fields.option("type"),
      media: try fields.list("media", limit: RecordLimits.media) { value throws(RecordError) in
        try PrefetchMedia(json: value)
      },
      expiresAtMilliseconds: try fields.number("expiresAt", in: 0...RecordLimits.number),
      survival: try fields.survival())
  }
}

extension PrefetchMedia {
  /// Decodes one file, or a list of files: the original, then its variants.
  fileprivate init(json: JSONValue) throws(RecordError) {
    guard json.kind == .array else {
      self.init(try PrefetchFile(json: json))
      return
    }
    var files: [PrefetchFile] = []
    for value in json.elements {
      guard files.count < PlanLimits.variants else {
        throw json.error("has more than \(PlanLimits.variants) files")
      }
      files.append(try PrefetchFile(json: value))
    }
    guard !files.isEmpty else { throw json.error("has no file") }
    self.init(files: files)
  }
}

extension PrefetchFile {
  private static let known = ["bytes", "chunkMs", "durationMs", "key", "kind", "start"]

  fileprivate init(json: JSONValue) throws(RecordError) {
    let fields = try RecordFields(json, known: Self.known)
    let bytes = try fields.number("bytes", in: 0...RecordLimits.fileBytes)
    let timing: MediaTiming? =
      try fields.has("start")
      ? MediaTruth.timing(fields.value("start"), bytes ?? RecordLimits.fileBytes) : nil
    self.init(
      key: try fields.name("key", limit: .bytes(PlanLimits.keyBytes)),
      load: MediaLoad(
        kind: try fields.option("kind"), bytes: bytes,
        durationMilliseconds: try fields.number("durationMs", in: 0...RecordLimits.number),
        timing: timing),
      chunkMilliseconds: try fields.number("chunkMs", in: 1...PlanLimits.chunkMilliseconds))
  }
}

extension RecordFields {
  /// Decodes the member `survival`, an item's survival curve: times ascending and shares descending.
  func survival() throws(RecordError) -> [WatchPoint] {
    let survival = try pairs("survival", limit: 256).map {
      WatchPoint(milliseconds: $0.0, permille: $0.1)
    }
    var last = WatchPoint(milliseconds: 0, permille: 1_000)
    for point in survival {
      guard point.milliseconds >= last.milliseconds, point.permille <= last.permille else {
        throw error("survival", "has falling times or rising shares of a thousand")
      }
      last = point
    }
    return survival
  }

  /// Decodes a list of pairs of nonnegative integers.
  func pairs(_ name: String, limit: Int) throws(RecordError) -> [(Int, Int)] {
    try list(name, limit: limit) { pair throws(RecordError) in try pair.pair() }
  }

  /// Decodes byte ranges, each as its first and last byte.
  func ranges(_ name: String) throws(RecordError) -> [Range<Int>] {
    try list(name, limit: PlanLimits.ranges) { value throws(RecordError) in try value.range() }
  }
}

extension JSONValue {
  /// Decodes a pair of nonnegative integers.
  func pair() throws(RecordError) -> (Int, Int) {
    let elements = Array(try checked(as: .array).elements.prefix(3))
    guard elements.count == 2 else { throw error("is not a pair of numbers") }
    var numbers: [Int] = []
    for element in elements {
      let number = try element.checkedNumber()
      guard (0...RecordLimits.number).contains(number) else {
        throw element.error("\(number) is not in 0…\(RecordLimits.number)")
      }
      numbers.append(number)
    }
    return (numbers[0], numbers[1])
  }

  /// Decodes a byte range as its first and last byte.
  func range() throws(RecordError) -> Range<Int> {
    let (first, last) = try pair()
    guard first <= last, last < RecordLimits.fileBytes else {
      throw error("\(first)–\(last) are not the first and the last byte of a range")
    }
    return first..<last + 1
  }
}
