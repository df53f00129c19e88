import Feed

/// An item of a feed, by what decides how much of it is loaded ahead.
public struct PrefetchItem: Hashable, Sendable, Codable {
  /// Its own among the items of the feed.
  @ByBytes public var id: String
  /// What it is.
  public var type: PostType
  /// Its media, in the order in which they are shown.
  public var media: [PrefetchMedia]
  /// When its addresses stop to be good, on the clock of the events; `nil` where they do not.
  public var expiresAtMilliseconds: Int?
  /// How long people watch it, time and share falling; empty where that is not known.
  public var survival: [WatchPoint]

  /// An item of these media. An item whose page is what it shows, such as a web app, has that page as its
  /// one file, of kind `image`.
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
  /// What a post has to load. A file's key is its id on pages, `<post>.<index>`; that of its variants has behind
  /// it their index on pages, `<post>.<index>:<variant>`; a web app's or an ad's own page, where it has no files,
  /// has the post's id.
  public init(id: String, load: ItemLoad) {
    var media = load.media.enumerated().map { index, media in
      let key = "\(id).\(index)"
      let variants = media.variants.enumerated().map {
        PrefetchFile(key: "\(key):\($0)", load: $1)
      }
      // From the best to the smallest; pages have them in the order of their sizes.
      return PrefetchMedia(files: [PrefetchFile(key: key, load: media)] + variants.reversed())
    }
    if media.isEmpty, load.hasPage, load.type == .webapp || load.type == .ad {
      media = [PrefetchMedia(PrefetchFile(key: id, load: MediaLoad(kind: .image)))]
    }
    self.init(id: id, type: load.type, media: media)
  }
}

/// One picture or clip of an item: the original, and the variants of which one may be loaded in its stead.
public struct PrefetchMedia: Hashable, Sendable, Codable {
  /// The original, then its variants, from the best to the smallest. At least one.
  public var files: [PrefetchFile]

  /// A media of these files.
  public init(files: [PrefetchFile]) { self.files = files }

  /// A media that has no variants.
  public init(_ file: PrefetchFile) { files = [file] }
}

/// One file that can be loaded.
public struct PrefetchFile: Hashable, Sendable, Codable {
  /// What the client knows it by and loads it from: its URL, its id. Files with the same key are one file.
  @ByBytes public var key: String
  /// Its size, how long it plays, and how many of its bytes start it.
  public var load: MediaLoad
  /// Set where the clip is made of chunks of this duration, as HLS and DASH have segments: a chunk plays only whole. The curve
  /// has a point where each ends, but the last; otherwise the file is taken for one without chunks. Where all files of a media
  /// have as many chunks of the same duration, each of them may come from any of the files. `nil` for a file that plays as
  /// far as its first bytes do.
  public var chunkMilliseconds: Int?

  /// A file of this key.
  public init(key: String, load: MediaLoad, chunkMilliseconds: Int? = nil) {
    self.key = key
    self.load = load
    self.chunkMilliseconds = chunkMilliseconds
  }
}

/// Where a page belongs in the list.
public enum PrefetchPlace: Hashable, Sendable, Codable {
  /// It is the list: the first page, or the feed's top after a refresh.
  case anew
  /// Below the last item.
  case below
  /// Above the first item.
  case above
  /// A window around the place at this distance below the active item (above it if below zero):
  /// where a fling will stop. It is the list from then on.
  case around(distance: Int)
}

extension PrefetchFile {
  /// The file without what cannot be: what a stranger says of it is taken as far as it makes sense.
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

  /// Says of the file that it plays by whole chunks: its head is the first one, and its curve goes up in steps. Where a chunk's
  /// end is not known it stays one without: chunks of two variants would not fit together.
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
  /// How long nine of ten watch it at the most; `nil` where that is not known.
  var usualMilliseconds: Int? {
    isEmpty ? nil : first { $0.permille <= 100 }?.milliseconds ?? .max
  }

  /// The curve up to where nobody watches any more, or none where times do not rise, shares do not fall or leave 0…1000, or
  /// there are too many.
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
