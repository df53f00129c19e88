import Feed
import JSON

extension MediaTruth {
  /// The JSON of it, which `init(json:)` reads back: what is unknown is left out. Ranges name their first and
  /// their last byte.
  public var json: [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.object { $0.members(of: self) }
    return writer.bytes
  }
}

extension MediaVariant {
  /// The JSON of variants, which `list(json:)` reads back: an array of what is known of each, and its URL.
  public static func json(_ variants: [MediaVariant]) -> [UInt8] {
    var writer = JSONWriter(capacity: 512 * variants.count)
    writer.array { writer in
      for variant in variants {
        writer.object { writer in
          writer.member("url", variant.url)
          writer.members(of: variant.truth)
        }
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  /// What is known of a file, as members of an object of the caller's.
  public mutating func members(of truth: MediaTruth) {
    member("kind", truth.kind.rawValue)
    format(of: truth, entirely: true)
    hints(of: truth, start: truth.start)
    if truth.isUndecoded {
      key("undecoded")
      boolean(true)
    }
    member("version", truth.version?.text)
  }

  /// What an item says of a file behind its kind and URL. Of a start, nothing that its size says already:
  /// where all of the file is needed and nothing moves, there is none.
  ///
  /// - Parameters:
  ///   - naming: where clients get its variants.
  ///   - entirely: tells of its variants, too, how far their bytes play.
  mutating func itemMembers(
    of truth: MediaTruth, _ naming: (any MediaNaming)?, entirely: Bool
  ) {
    format(of: truth, entirely: false)
    hints(of: truth, start: truth.start == MediaTiming(headBytes: truth.bytes) ? nil : truth.start)
    guard !truth.variants.isEmpty else { return }
    key("variants")
    array { writer in
      for variant in truth.variants {
        writer.object { $0.itemMembers(of: variant, naming, entirely: entirely) }
      }
    }
  }

  /// What an item says of a variant: what a client chooses by, and how many bytes start it. What it has in
  /// common with the file whose variant it is, is not said again.
  private mutating func itemMembers(
    of variant: MediaVariant, _ naming: (any MediaNaming)?, entirely: Bool
  ) {
    let truth = variant.truth
    // Of a page it is enough: when it expires, the file does whose variant it is.
    let url = variant.url.utf8.span
    var name = naming?.name(of: url, version: entirely ? truth.version : nil)
    if !entirely { name?.expiresAt = nil }
    location(url, name)
    member("mimeType", truth.mimeType)
    member("width", truth.width)
    member("height", truth.height)
    if entirely { member("durationMs", truth.durationMilliseconds) }
    member("bytes", truth.bytes)
    guard truth.kind == .video || truth.kind == .sound, var start = truth.start else { return }
    if !entirely { (start.curve, start.lead) = ([], []) }
    key("start")
    timing(start)
  }

  private mutating func format(of truth: MediaTruth, entirely: Bool) {
    member("mimeType", truth.mimeType)
    // Of a picture its type says it all.
    let isPicture = truth.kind == .image || truth.kind == .animation
    if entirely || !isPicture { member("codec", truth.codec) }
    if entirely { member("soundCodec", truth.soundCodec) }
    if entirely || !isPicture, let hasSound = truth.hasSound {
      key("hasSound")
      boolean(hasSound)
    }
    member("width", truth.width)
    member("height", truth.height)
    if entirely { member("frames", truth.frameCount) }
    member("durationMs", truth.durationMilliseconds)
    member("bytes", truth.bytes)
  }

  private mutating func hints(of truth: MediaTruth, start: MediaTiming?) {
    if let placeholder = truth.placeholder {
      key("placeholder")
      self.placeholder(placeholder)
    }
    if let start {
      key("start")
      timing(start)
    }
  }

  mutating func timing(_ start: MediaTiming) {
    object { writer in
      if !start.isStartable {
        writer.key("startable")
        writer.boolean(false)
        writer.pairs("needed", start.neededRanges) { ($0.lowerBound, $0.upperBound - 1) }
      }
      writer.member("headBytes", start.headBytes)
      if !start.scanEnds.isEmpty {
        writer.key("scans")
        writer.array { writer in for end in start.scanEnds { writer.integer(end) } }
      }
      writer.pairs("curve", start.curve) { ($0.milliseconds, $0.bytes) }
      writer.pairs("lead", start.lead) { ($0.kilobitsPerSecond, $0.bytes) }
    }
  }

  /// A list of pairs of numbers, left out where it is empty.
  mutating func pairs<Element>(
    _ name: StaticString, _ elements: [Element], _ pair: (Element) -> (Int, Int)
  ) {
    guard !elements.isEmpty else { return }
    key(name)
    // Two numbers of twenty characters at the most, brackets and commas.
    literal(capacity: 44 * elements.count + 2) { text in
      text.append("[")
      for (index, element) in elements.enumerated() {
        let (first, second) = pair(element)
        text.append(index == 0 ? "[" : ",[")
        text.append(decimal: first)
        text.append(",")
        text.append(decimal: second)
        text.append("]")
      }
      text.append("]")
    }
  }
}
