import Feed

/// An entry of Atom (RFC 4287 section 4.1.2), with Media RSS and threading (RFC 4685).
struct AtomEntry {
  private let entry: XMLElement
  private let context: FeedContext
  private let base: String?

  init(_ entry: XMLElement, _ context: FeedContext) {
    self.entry = entry
    self.context = context
    base = entry.base ?? context.link
  }

  func post(
    _ zone: LocalTimeZone, _ omissions: inout Omissions
  ) throws(FormatError) -> Post {
    let media = FeedMedia(entry, base: base)
    let files = media.files(&omissions)
    let link = link("alternate") ?? contentLink
    guard let id = entry.text("id", .atom) ?? link else { throw FormatError("the entry has no id") }
    let published = entry.text("published", .atom)
    let content = text("content", files, &omissions)
    let summary = text("summary", files, &omissions)
    var extra = ExtraMembers()
    if !id.isSame(as: link ?? "") { extra.add("id", text: id) }
    if published != nil { extra.add("updated", text: entry.text("updated", .atom)) }
    if content != nil { extra.add("summary", text: summary) }
    if content ?? summary != nil { extra.add("media:description", text: media.text) }
    extra.add("rights", text: text("rights", files, &omissions))
    return Post(
      id: StableID.isGlobal(id)
        ? StableID.make(.atom, id) : StableID.make(.atom, context.id ?? context.link ?? "", id),
      type: PostType(of: files),
      title: text("title", files, &omissions) ?? media.title,
      text: content ?? summary ?? media.text,
      language: omissions.language(
        entry.first("content", .atom)?.language ?? entry.language ?? context.language),
      publishedAt: try FormatError.time(
        published ?? entry.text("updated", .atom), "published", zone),
      author: author,
      url: link,
      thumbnail: media.thumbnail,
      tags: entry.all("category", .atom).compactMap { $0["label"] ?? $0["term"] }.uniqued,
      counters: media.counters + replies,
      extra: extra.extra,
      media: files)
  }

  private func link(_ relation: String) -> String? {
    entry.all("link", .atom).lazy
      .filter { ($0["rel"] ?? "alternate") == relation }
      .compactMap { WebAddress.resolve($0["href"], base: $0.base ?? base) }.first
  }

  /// Content may be at another URL (section 4.1.3.2).
  private var contentLink: String? {
    entry.first("content", .atom).flatMap { WebAddress.resolve($0["src"], base: $0.base ?? base) }
  }

  /// The visible text of a text construct (section 3.1).
  private func text(
    _ name: String, _ files: [Media], _ omissions: inout Omissions
  ) -> String? {
    guard let element = entry.first(name, .atom) else { return nil }
    let html: String
    switch element["type"] ?? "text" {
    case "html", "text/html": html = element.text ?? ""
    case "xhtml": html = element.markup
    case "text", "text/plain": return element.text
    // A separate document, or bytes in Base64.
    default: return nil
    }
    let text = HTMLText(html)
    omissions.add(.pictureInText, text.lostPictures(beside: files, base: base))
    return text.plain.trimmed
  }

  /// The author of the entry, of the feed from which it was copied, or of this feed (section 4.2.1).
  private var author: Author? {
    let element =
      entry.first("author", .atom) ?? entry.first("source", .atom)?.first("author", .atom)
      ?? context.author
    let (uri, email) = (element?.text("uri", .atom), element?.text("email", .atom))
    var extra = ExtraMembers()
    if uri != nil { extra.add("email", text: email) }
    let author = Author(
      id: uri ?? email, name: element?.text("name", .atom), extra: extra.extra)
    return author == Author() ? nil : author
  }

  private var replies: [Counter] {
    let count =
      entry.text("total", .threading)
      ?? entry.all("link", .atom).first { $0["rel"] == "replies" }?
      .attributes[XMLName(namespace: .threading, local: "count")]
    return count.flatMap { Int($0) }.map { [Counter("comments", $0)] } ?? []
  }
}
