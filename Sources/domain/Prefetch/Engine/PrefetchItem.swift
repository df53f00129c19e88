import Feed

/// An item of a feed, by the properties that decide how much of it is loaded ahead.
public struct PrefetchItem: Hashable, Sendable, Codable {
  /// The item's id, unique in the feed.
  @ByBytes public var id: String
  /// The item's type.
  public var type: PostType
  /// The item's media, in display order.
  public var media: [PrefetchMedia]
  /// The time at which the item's addresses expire, on the clock of the events; `nil` if they do not.
  public var expiresAtMilliseconds: Int?
  /// How long people watch the item: rising times, falling shares; empty if unknown.
  public var survival: [WatchPoint]

  /// Creates an item of these media. An item that shows a page, such as a web app, has that page as its one
  /// file, of kind `image`.
  public init(
    id: String, type: PostType, media: [PrefetchMedia], expiresAtMilliseconds: Int? = nil,
    survival: [WatchPoint] = []
  ) {
    self.id = id
    self.type = type
    self.media = media
    self.expiresAtMilliseconds = expiresAtMilliseconds
    self.survival = survival
  }
}

extension PrefetchItem {
  /// Creates the item of a post's load. A file's key is its id on pages, `<post>.<index>`. The key of a
  /// variant adds its index on pages, `<post>.<index>:<variant>`. The key of the page of a web app or an ad
  /// without files is the post's id.
  public init(id: String, load: ItemLoad) {
    var media = load.media.enumerated().map { index, media in
      let key = "\(id).\(index)"
      let variants = media.variants.enumerated().map {
        PrefetchFile(key: "\(key):\($0)", load: $1)
      }
      // From the best to the smallest; pages list variants by ascending size.
      return PrefetchMedia(files: [PrefetchFile(key: key, load: media)] + variants.reversed())
    }
    if media.isEmpty, load.hasPage, load.type == .webapp || load.type == .ad {
      media = [PrefetchMedia(PrefetchFile(key: id, load: MediaLoad(kind: .image)))]
    }
    self.init(id: id, type: load.type, media: media)
  }
}

/// One picture or clip of an item: the original, and its variants, one of which may be loaded in its place.
public struct PrefetchMedia: Hashable, Sendable, Codable {
  /// The original, then its variants, from the best to the smallest. At least one file.
  public var files: [PrefetchFile]

  /// Creates a media of these files.
  public init(files: [PrefetchFile]) { self.files = files }

  /// Creates a media without variants.
  public init(_ file: PrefetchFile) { files = [file] }
}

/// A file that can be loaded.
public struct PrefetchFile: Hashable, Sendable, Codable {
  /// The name by which the client knows and loads the file, such as its URL or id. Files with the same key
  /// are one file.
  @ByBytes public var key: String
  /// The file's size, its duration, and the number of its bytes that start it.
  public var load: MediaLoad
  /// The duration of the clip's chunks, such as the segments of HLS and DASH; a chunk plays only whole. The
  /// curve has a point at the end of each chunk but the last; otherwise the file is treated as one without
  /// chunks. If all files of a media have the same number of chunks of the same duration, each chunk may come
  /// from any of the files. `nil` for a file without chunks, which plays as far as its first bytes do.
  public var chunkMilliseconds: Int?

  /// Creates a file with this key.
  public init(key: String, load: MediaLoad, chunkMilliseconds: Int? = nil) {
    self.key = key
    self.load = load
    self.chunkMilliseconds = chunkMilliseconds
  }
}

/// The place of a page in the list.
public enum PrefetchPlace: Hashable, Sendable, Codable {
  /// The page is the whole list: the first page, or the feed's top after a refresh.
  case anew
  /// Below the last item.
  case below
  /// Above the first item.
  case above
  /// A window around the place at this distance below the active item (above it if negative), where a fling
  /// will stop. The window is the whole list from then on.
  case around(distance: Int)
}

extension PrefetchFile {
  /// The file without impossible values: untrusted input is used as far as it makes sense.
  var sane: PrefetchFile {
    let bytes = load.bytes.flatMap { (0...RecordLimits.fileBytes).contains($0) ? $0 : nil }
    let duration = load.durationMilliseconds.flatMap {
      (0...RecordLimits.number).contains($0) ? $0 : nil
    }
    let timing = load.timing.flatMap { timing in
      timing.problem(fileBytes: bytes ?? RecordLimits.fileBytes) == nil ? timing : nil
    }
    if chunkMilliseconds == nil, bytes == load.bytes, duration == load.durationMilliseconds,
      timing == load.timing
    {
      return self
    }
    var sane = PrefetchFile(
      key: key,
      load: MediaLoad(
        kind: load.kind, bytes: bytes, durationMilliseconds: duration, timing: timing))
    if let chunkMilliseconds { sane.divide(intoChunksOf: chunkMilliseconds) }
    return sane
  }

  /// Describes the file as one that plays by whole chunks: its head is the first chunk, and its curve rises
  /// in steps. If the end of a chunk is unknown, the file stays one without chunks, since chunks of two
  /// variants would not fit together.
  private mutating func divide(intoChunksOf milliseconds: Int) {
    guard milliseconds > 0, load.kind.plays, load.timing?.isStartable != false,
      let bytes = load.bytes, let duration = load.durationMilliseconds, duration > 0,
      (duration - 1) / milliseconds <= load.timing?.curve.count ?? 0
    else { return }
    let ends = Set(load.timing?.curve.map(\.milliseconds) ?? [])
    var (curve, head): ([MediaTiming.Point], Int) = ([], 0)
    for start in stride(from: 0, to: duration, by: milliseconds) {
      let time = min(start + milliseconds, duration)
      guard time == duration || ends.contains(time) else { return }
      let end = max(load.bytes(throughMilliseconds: time) ?? bytes, head)
      if start == 0 { head = max(end, load.timing?.headBytes ?? 0) }
      curve.append(.init(milliseconds: start + 1, bytes: max(end, head)))
      curve.append(.init(milliseconds: time, bytes: max(end, head)))
    }
    let lead = (load.timing?.lead ?? []).map {
      MediaTiming.Lead(
        kilobitsPerSecond: $0.kilobitsPerSecond, bytes: max($0.bytes, head))
    }
    load.timing = MediaTiming(headBytes: head, curve: curve, lead: lead)
    chunkMilliseconds = milliseconds
  }
}

extension [WatchPoint] {
  /// The maximum time for which nine of ten people watch; `nil` if unknown.
  var usualMilliseconds: Int? {
    isEmpty ? nil : first { $0.permille <= 100 }?.milliseconds ?? .max
  }

  /// The curve up to the point at which no one watches any more; empty if times do not rise, shares do not
  /// fall or leave 0…1000, or there are more than 256 points.
  var sane: [WatchPoint] {
    guard count <= 256 else { return [] }
    var last = WatchPoint(milliseconds: 0, permille: 1_000)
    for point in self {
      guard (last.milliseconds...RecordLimits.number).contains(point.milliseconds),
        (0...last.permille).contains(point.permille)
      else { return [] }
      last = point
    }
    return firstIndex { $0.permille == 0 }.map { Array(self[...$0]) } ?? self
  }
}
