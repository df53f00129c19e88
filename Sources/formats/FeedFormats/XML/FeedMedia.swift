import Feed

/// The files of an item: enclosures of RSS and Atom, and Media RSS (rssboard.org/media-rss).
struct FeedMedia {
  private let item: XMLElement
  private let base: String?
  private let groups: [XMLElement]

  init(_ item: XMLElement, base: String?) {
    self.item = item
    self.base = base
    groups = item.all("group", .media)
  }

  /// Returns each file once, Media RSS first, because it has more detail. From a group, which is one item in
  /// several renditions, it takes the default, or else the first supported file.
  func files(_ omissions: inout Omissions) -> [Media] {
    var files: [Media] = []
    func add(_ media: Media?) {
      // One more than a record may have is enough for the decoder to refuse the post; no
      // further ones are compared.
      if let media, files.count <= RecordLimits.media,
        !files.contains(where: { $0.url.isSame(as: media.url) })
      {
        files.append(media)
      }
    }
    for group in groups {
      let renditions = group.all("content", .media).filter { kind($0).media != nil }
      let chosen = renditions.first { $0["isDefault"] == "true" } ?? renditions.first
      if let chosen { add(media(chosen, in: group, &omissions)) }
      omissions.add(.rendition, max(0, renditions.count - 1))
    }
    for content in item.all("content", .media) { add(media(content, &omissions)) }
    for enclosure in item.all("enclosure") { add(media(enclosure, &omissions)) }
    for link in item.all("link", .atom) where link["rel"] == "enclosure" {
      add(media(link, &omissions))
    }
    return files
  }

  /// The thumbnail of Media RSS, or the image of a podcast.
  var thumbnail: String? {
    let places =
      [item] + groups + item.all("content", .media) + groups.flatMap { $0.all("content", .media) }
    return thumbnail(places)
      ?? WebAddress.resolve(item.first("image", .itunes)?["href"], base: base)
  }

  /// The first thumbnail among the elements.
  private func thumbnail(_ places: [XMLElement]) -> String? {
    let found = places.lazy.compactMap { $0.first("thumbnail", .media) }.first
    return WebAddress.resolve(found?["url"], base: found?.base ?? base)
  }

  /// The title that Media RSS gives the item or its first group.
  var title: String? { item.text("title", .media) ?? groups.first?.text("title", .media) }

  /// The description that Media RSS gives the item or its first group.
  var text: String? {
    Self.text(
      of: item.first("description", .media) ?? groups.first?.first("description", .media))
  }

  private static func text(of element: XMLElement?) -> String? {
    guard let text = element?.text else { return nil }
    return element?["type"] == "html" ? HTMLText(text).plain.trimmed : text
  }

  /// Views and likes of Media RSS.
  var counters: [Counter] {
    let places = [item] + groups
    let community = places.lazy.compactMap { $0.first("community", .media) }.first
    var counters: [Counter] = []
    if let views = community?.first("statistics", .media)?["views"].flatMap({ Int($0) }) {
      counters.append(Counter("views", views))
    }
    if let likes = community?.first("starRating", .media)?["count"].flatMap({ Int($0) }) {
      counters.append(Counter("likes", likes))
    }
    return counters
  }

  private func kind(_ element: XMLElement) -> FileKind {
    FileKind(
      mimeType: element["type"], medium: element["medium"],
      url: element["url"] ?? element["href"] ?? "")
  }

  private func media(
    _ element: XMLElement, in group: XMLElement? = nil, _ omissions: inout Omissions
  ) -> Media? {
    let reference = element["url"] ?? element["href"]
    guard let url = WebAddress.resolve(reference, base: element.base ?? base) else { return nil }
    let kind = kind(element)
    guard let known = kind.media else {
      omissions.add(.file)
      return nil
    }
    func number(_ name: String) -> Int? {
      element[name].flatMap { Double($0) }.flatMap { Int(rounding: $0) }
    }
    let seconds = element["duration"].flatMap { Double($0) } ?? podcastSeconds
    var extra = ExtraMembers()
    let alt = AltText(Self.text(of: element.first("description", .media)), &extra)
    extra.add("title", text: group == nil ? element.text("title", .media) : nil)
    return Media(
      kind: known, url: url, alt: alt.text,
      poster: known.plays ? thumbnail([element, group].compactMap { $0 }) : nil,
      mimeType: element["type"],
      width: number("width")?.ifPositive, height: number("height")?.ifPositive,
      durationMilliseconds: known.plays
        ? Int(rounding: seconds.map { $0 * 1000 })?.ifPositive : nil,
      bytes: (number("fileSize") ?? number("length"))?.ifPositive, extra: extra.extra)
  }

  /// The duration of a podcast episode: seconds, or hours and minutes before them, separated by colons.
  private var podcastSeconds: Double? {
    let parts = item.text("duration", .itunes)?.split(
      separator: ":", omittingEmptySubsequences: false
    ).map { Double($0) }
    guard let parts, (1...3).contains(parts.count) else { return nil }
    var seconds = 0.0
    for part in parts {
      guard let part, part >= 0 else { return nil }
      seconds = seconds * 60 + part
    }
    return seconds
  }
}
