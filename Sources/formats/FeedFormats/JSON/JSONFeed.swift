import Feed
import JSON

/// A JSON Feed, version 1 or 1.1 (jsonfeed.org/version/1.1).
enum JSONFeed {
  /// Makes records from the items of a feed.
  static let translate: JSONReader.Translate = { document, lines, translation in
    let first = lines.line(of: document)
    guard let items = document.member("items"), items.kind == .array else {
      translation.refuse("is not a JSON Feed: it has no list of items", line: first)
      return
    }
    // The title comes after the items, because they create the feed.
    defer { translation.title(document.text("title"), line: first) }
    let home = document.text("home_page_url") ?? document.text("feed_url")
    for item in items.elements {
      let line = lines.line(of: item)
      guard item.kind == .object else {
        translation.refuse("an item is not an object", line: line)
        continue
      }
      do throws(FormatError) {
        translation.add(
          try post(
            item, of: document, home: home, translation.settings.timeZone, &translation.omissions),
          line: line)
      } catch {
        translation.refuse(error.description, line: line)
      }
    }
  }

  private static func post(
    _ item: JSONValue, of feed: JSONValue, home: String?, _ zone: LocalTimeZone,
    _ omissions: inout Omissions
  ) throws(FormatError) -> Post {
    guard let id = item.id("id") ?? item.text("url") else {
      throw FormatError("the item has no id")
    }
    let media = media(of: item, home: home, &omissions)
    let url = WebAddress.resolve(item.text("url") ?? item.text("external_url"), base: home)
    return Post(
      id: StableID.isGlobal(id)
        ? StableID.make(.jsonFeed, id)
        : StableID.make(.jsonFeed, feed.text("feed_url") ?? home ?? feed.text("title") ?? "", id),
      type: PostType(of: media),
      title: item.text("title"),
      text: text(of: item, media, home: home, &omissions),
      language: omissions.language(item.text("language") ?? feed.text("language")),
      publishedAt: try FormatError.time(
        item.text("date_published") ?? item.text("date_modified"), "date_published", zone),
      author: author(of: item, home: home) ?? author(of: feed, home: home),
      url: url,
      thumbnail: WebAddress.resolve(item.text("image") ?? item.text("banner_image"), base: home),
      tags: item.list("tags").compactMap(\.text),
      extra: extra(of: item, id: id.isSame(as: url ?? "") ? nil : id),
      media: media)
  }

  /// Members of an item that are not in its record, and extensions, whose names begin with an underscore.
  private static func extra(of item: JSONValue, id: String?) -> Extra? {
    var extra = ExtraMembers()
    extra.add("id", text: id)
    if item.text("url") != nil { extra.add("external_url", item.member("external_url")) }
    if item.text("content_text") ?? item.text("content_html") != nil {
      extra.add("summary", item.member("summary"))
    }
    if item.text("image") != nil { extra.add("banner_image", item.member("banner_image")) }
    if item.text("date_published") != nil {
      extra.add("date_modified", item.member("date_modified"))
    }
    if item.list("authors").count > 1 { extra.add("authors", item.member("authors")) }
    for member in item.members where member.name.hasPrefix("_") {
      extra.add(member.name, member.value)
    }
    return extra.extra
  }

  private static func text(
    of item: JSONValue, _ media: [Media], home: String?, _ omissions: inout Omissions
  ) -> String? {
    let html = item.text("content_html").map { HTMLText($0) }
    omissions.add(.pictureInText, html?.lostPictures(beside: media, base: home) ?? 0)
    return item.text("content_text") ?? html?.plain.trimmed ?? item.text("summary")
  }

  /// Returns the first author. Version 1.1 has a list of authors, version 1 a single one.
  private static func author(of value: JSONValue, home: String?) -> Author? {
    guard let json = value.list("authors").first ?? value.present("author") else { return nil }
    let author = Author(
      id: json.text("url"), name: json.text("name"),
      avatar: WebAddress.resolve(json.text("avatar"), base: home))
    return author == Author() ? nil : author
  }

  private static func media(
    of item: JSONValue, home: String?, _ omissions: inout Omissions
  ) -> [Media] {
    var media = item.list("attachments").compactMap { file -> Media? in
      guard let url = WebAddress.resolve(file.text("url"), base: home) else { return nil }
      let type = file.text("mime_type")
      let kind = FileKind(mimeType: type, url: url)
      guard let known = kind.media else {
        omissions.add(.file)
        return nil
      }
      var extra = ExtraMembers()
      extra.add("title", file.member("title"))
      return Media(
        kind: known, url: url, mimeType: type,
        durationMilliseconds: Int(
          rounding: file.member("duration_in_seconds")?.number.map { $0 * 1000 })?.ifPositive,
        bytes: file.number("size_in_bytes")?.ifPositive, extra: extra.extra)
    }
    if media.isEmpty, let url = WebAddress.resolve(item.text("image"), base: home) {
      media = [Media(kind: .image, url: url)]
    }
    return media
  }
}
