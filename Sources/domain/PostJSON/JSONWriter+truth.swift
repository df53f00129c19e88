import Feed
import JSON

extension MediaTruth {
  /// The facts as JSON, in the form that `init(json:)` reads; unknown ones are omitted. Ranges are written
  /// as their first and last byte.
  public var json: [UInt8] {
    var writer = JSONWriter(capacity: 512)
    writer.object { $0.members(of: self) }
    return writer.bytes
  }
}

extension JSONWriter {
  /// Writes the facts about a file, as members of the caller's object.
  public mutating func members(of truth: MediaTruth) {
    member("kind", truth.kind.rawValue)
    format(of: truth, entirely: true)
    placeholder(of: truth)
    start(of: truth, entirely: true)
    member("undecoded", truth.missingDecoder?.rawValue)
    member("version", truth.version?.text)
  }

  /// Writes the members of a file in an item, after its kind and URL. Omits `start` if it only says that
  /// the whole file is needed.
  ///
  /// - Parameters:
  ///   - naming: The URLs at which clients get the variants.
  ///   - entirely: Whether to write the curves of the variants.
  mutating func itemMembers(
    of truth: borrowing MediaTruth, _ naming: MediaNames, entirely: Bool
  ) {
    format(of: truth, entirely: false)
    placeholder(of: truth)
    if truth.start?.isWhole(fileBytes: truth.bytes) == false { start(of: truth, entirely: true) }
    guard !truth.variants.isEmpty else { return }
    array("variants") { writer in
      // Accessed through a span: variants have many references and are not copied.
      let variants = truth.variants.span
      for index in variants.indices {
        writer.object { $0.itemMembers(of: variants[index], naming, entirely: entirely) }
      }
    }
  }

  /// Writes a variant in an item: the values by which a client chooses, and how many bytes start it. Omits
  /// what it has in common with its original.
  private mutating func itemMembers(
    of variant: borrowing MediaVariant, _ naming: MediaNames, entirely: Bool
  ) {
    let url = variant.url
    var name = naming.name(of: url.utf8.span, version: entirely ? variant.truth.version : nil)
    // On a page, the expiry of the original is also that of the variant.
    if !entirely { name?.expiresAt = nil }
    location(url.utf8.span, name, naming)
    if !naming.areVerbatim { member("version", variant.truth.version?.mark) }
    member("mimeType", variant.truth.mimeType)
    numbers(
      width: variant.truth.width, height: variant.truth.height,
      durationMilliseconds: entirely ? variant.truth.durationMilliseconds : nil,
      bytes: variant.truth.bytes)
    guard variant.truth.kind == .video || variant.truth.kind == .sound else { return }
    start(of: variant.truth, entirely: entirely)
  }

  private mutating func format(of truth: borrowing MediaTruth, entirely: Bool) {
    member("mimeType", truth.mimeType)
    // The type of a picture implies its codec.
    let isPicture = truth.kind == .image || truth.kind == .animation
    if entirely || !isPicture { member("codec", truth.codec) }
    if entirely { member("soundCodec", truth.soundCodec) }
    if entirely || !isPicture, let hasSound = truth.hasSound {
      key("hasSound")
      boolean(hasSound)
    }
    if truth.isEncrypted {
      key("encrypted")
      boolean(true)
    }
    if entirely {
      member("width", truth.width)
      member("height", truth.height)
      member("frames", truth.frameCount)
      member("durationMs", truth.durationMilliseconds)
      member("bytes", truth.bytes)
    } else {
      numbers(
        width: truth.width, height: truth.height,
        durationMilliseconds: truth.durationMilliseconds, bytes: truth.bytes)
    }
  }

  private mutating func placeholder(of truth: borrowing MediaTruth) {
    guard let placeholder = truth.placeholder else { return }
    key("placeholder")
    self.placeholder(placeholder)
  }

  /// - Parameter entirely: Whether to write the curve and the leads.
  private mutating func start(of truth: borrowing MediaTruth, entirely: Bool) {
    guard let start = truth.start else { return }
    key("start")
    timing(start, entirely: entirely)
  }

  /// - Parameter entirely: Whether to write the curve and the leads.
  mutating func timing(_ start: MediaTiming, entirely: Bool = true) {
    object { writer in
      if !start.isStartable {
        writer.key("startable")
        writer.boolean(false)
        writer.pairs("needed", start.neededRanges) { ($0.lowerBound, $0.upperBound - 1) }
      }
      writer.member("headBytes", start.headBytes)
      if !start.scanEnds.isEmpty {
        writer.array("scans") { writer in for end in start.scanEnds { writer.integer(end) } }
      }
      guard entirely else { return }
      writer.pairs("curve", start.curve) { ($0.milliseconds, $0.bytes) }
      writer.pairs("lead", start.lead) { ($0.kilobitsPerSecond, $0.bytes) }
    }
  }

  /// Writes a list of pairs of numbers; omits it if it is empty.
  mutating func pairs<Element>(
    _ name: StaticString, _ elements: [Element], _ pair: (Element) -> (Int, Int)
  ) {
    guard !elements.isEmpty else { return }
    key(name)
    // At most two numbers of twenty characters, brackets and commas per pair.
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

extension MediaTiming {
  /// Whether it only says that the whole file is needed.
  fileprivate func isWhole(fileBytes: Int) -> Bool {
    isStartable && headBytes == fileBytes && neededRanges.isEmpty && scanEnds.isEmpty
      && curve.isEmpty && lead.isEmpty
  }
}
