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

  /// Each file once, Media RSS first: it says more. Of a group, which is one thing in several renditions,
  /// the one that it calls the default, or else its first picture or video.
  func files(_ omissions: inout Omissions) -> [Media] {
    var files: [Media] = []
    func add(_ media: Media?) {
      // One more than a record may have: it is refused, and the others need not be compared.
      if let media, files.count <= RecordLimits.media,
        !files.contains(where: { $0.url.isSame(as: media.url) })
      {
        files.append(media)
      }
    }
    for group in groups {
      let renditions = group.all("content", .media).filter { kind($0).media != nil }
      let chosen = renditions.first { $0["isDefault"] == "true" } ?? renditions.first
      if let chosen { add(media(chosen, &omissions)) }
      omissions.add(.rendition, max(0, renditions.count - 1))
    }
    for content in item.all("content", .media) { add(media(content, &omissions)) }
    for enclosure in item.all("enclosure") { add(media(enclosure, &omissions)) }
    for link in item.all("link", .atom) where link["rel"] == "enclosure" {
      add(media(link, &omissions))
    }
    let described = (groups + item.all("content", .media)).count {
      $0.first("description", .media) != nil || $0.first("text", .media) != nil
    }
    if groups.isEmpty { omissions.add(.description, described) }
    return files
  }

  /// A small picture, as Media RSS or a podcast has it.
  var thumbnail: String? {
    let places =
      [item] + groups + item.all("content", .media) + groups.flatMap { $0.all("content", .media) }
    let found = places.lazy.compactMap { $0.first("thumbnail", .media) }.first
    return WebAddress.resolve(found?["url"], base: found?.base ?? base)
      ?? WebAddress.resolve(item.first("image", .itunes)?["href"], base: base)
  }

  /// What Media RSS calls the item or its only group.
  var title: String? { item.text("title", .media) ?? groups.first?.text("title", .media) }

  /// What Media RSS says of the item or its only group.
  var text: String? {
    let element = item.first("description", .media) ?? groups.first?.first("description", .media)
    guard let text = element?.text else { return nil }
    return element?["type"] == "html" ? HTMLText(text).plain.trimmed : text
  }

  /// Views, where Media RSS has them.
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

  private func media(_ element: XMLElement, _ omissions: inout Omissions) -> Media? {
    let reference = element["url"] ?? element["href"]
    guard let url = WebAddress.resolve(reference, base: element.base ?? base) else { return nil }
    let kind = kind(element)
    guard let known = kind.media else {
      omissions.add(kind.omission)
      return nil
    }
    func number(_ name: String) -> Int? {
      element[name].flatMap { Double($0) }.flatMap { Int(rounding: $0) }
    }
    let seconds = element["duration"].flatMap { Double($0) }
    return Media(
      kind: known, url: url, mimeType: element["type"],
      width: number("width")?.ifPositive, height: number("height")?.ifPositive,
      durationMilliseconds: known == .video
        ? Int(rounding: seconds.map { $0 * 1000 })?.ifPositive : nil,
      bytes: (number("fileSize") ?? number("length"))?.ifPositive)
  }
}
