import Feed

/// An item of RSS 2.0 (rssboard.org/rss-specification) with the modules that feeds use: content, Dublin Core,
/// Media RSS, slash.
struct RSSItem {
  private let item: XMLElement
  private let context: FeedContext
  private let base: String?

  init(_ item: XMLElement, _ context: FeedContext) {
    self.item = item
    self.context = context
    base = item.base ?? context.link
  }

  func post(
    _ zone: LocalTimeZone, _ omissions: inout Omissions
  ) throws(FormatError) -> Post {
    let media = FeedMedia(item, base: base)
    let files = media.files(&omissions)
    let content = item.text("encoded", .content)
    let html = content ?? item.text("description")
    let text = html.map { HTMLText($0) }
    omissions.add(.pictureInText, text?.lostPictures(beside: files, base: base) ?? 0)
    let link = WebAddress.resolve(item.text("link") ?? permanentLink, base: base)
    var extra = ExtraMembers()
    if let guid = item.text("guid"), !guid.isSame(as: link ?? "") { extra.add("guid", text: guid) }
    let description = item.text("description").flatMap { HTMLText($0).plain.trimmed }
    if content != nil, description != text?.plain.trimmed {
      extra.add("description", text: description)
    }
    if text?.plain.trimmed != nil { extra.add("media:description", text: media.text) }
    extra.add("comments", text: WebAddress.resolve(item.text("comments"), base: base))
    extra.add("source", text: item.text("source"))
    extra.add("sourceUrl", text: WebAddress.resolve(item.first("source")?["url"]))
    return Post(
      id: try id(link: link),
      type: PostType(of: files),
      title: (item.text("title") ?? media.title).flatMap { HTMLText($0).plain.trimmed },
      text: text?.plain.trimmed ?? media.text,
      language: omissions.language(
        item.text("language", .dublinCore) ?? item.language ?? context.language),
      publishedAt: try FormatError.time(
        item.text("pubDate") ?? item.text("date", .dublinCore), "pubDate", zone),
      author: author,
      url: link,
      thumbnail: media.thumbnail,
      tags: item.all("category").compactMap(\.text).uniqued,
      counters: media.counters + comments,
      extra: extra.extra,
      media: files)
  }

  /// A guid is a URL unless `isPermaLink` is false.
  private var permanentLink: String? {
    let guid = item.first("guid")
    guard guid?["isPermaLink"] != "false", let text = guid?.text, StableID.isGlobal(text) else {
      return nil
    }
    return text
  }

  /// Makes the id from the guid, which is unique in this feed; without one, from the link or the content.
  private func id(link: String?) throws(FormatError) -> String {
    if let guid = item.text("guid") {
      return StableID.isGlobal(guid)
        ? StableID.make(.rss, guid) : StableID.make(.rss, context.link ?? context.title ?? "", guid)
    }
    if let link { return StableID.make(.rss, link) }
    let said = [item.text("title"), item.text("description"), item.text("pubDate")]
    guard said.contains(where: { $0 != nil }) else {
      throw FormatError("the item has no guid, link, title or description")
    }
    return StableID.make(
      .rss, context.link ?? context.title ?? "", said[0] ?? "", said[1] ?? "", said[2] ?? "")
  }

  /// `author` is an e-mail address followed by a name in parentheses.
  private var author: Author? {
    if let name = item.text("creator", .dublinCore) { return Author(name: name) }
    guard let text = item.text("author") ?? item.text("author", .itunes) else { return nil }
    if let match = text.wholeMatch(of: /(\S+@\S+)\s*\((.+)\)/) {
      return Author(id: String(match.output.1), name: String(match.output.2))
    }
    return text.contains("@") && !text.contains(" ") ? Author(id: text) : Author(name: text)
  }

  private var comments: [Counter] {
    item.text("comments", .slash).flatMap { Int($0) }.map { [Counter("comments", $0)] } ?? []
  }
}

extension [String] {
  /// The distinct elements, in the order of their first occurrence.
  var uniqued: [String] {
    var seen: Set<ByteText> = []
    return filter { seen.insert(ByteText($0)).inserted }
  }
}
