import Feed
import JSON

/// A JSON Feed, version 1 or 1.1 (jsonfeed.org/version/1.1).
enum JSONFeed {
  /// Makes records of a feed's items.
  static let translate: JSONReader.Translate = { document, lines, translation in
    let first = lines.line(of: document)
    guard let items = document.member("items"), items.kind == .array else {
      translation.refuse("is no JSON Feed: it has no list of items", line: first)
      return
    }
    // Behind the items: they make the feed, and this is its title.
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
          try post(item, of: document, home: home, &translation.omissions), line: line)
      } catch {
        translation.refuse(error.description, line: line)
      }
    }
  }

  private static func post(
    _ item: JSONValue, of feed: JSONValue, home: String?, _ omissions: inout Omissions
  ) throws(FormatError) -> Post {
    guard let id = item.id("id") ?? item.text("url") else {
      throw FormatError("the item has no id")
    }
    let media = media(of: item, home: home, &omissions)
    if item.text("language") ?? feed.text("language") != nil { omissions.add(.language) }
    return Post(
      id: StableID.isGlobal(id)
        ? StableID.make(.jsonFeed, id)
        : StableID.make(.jsonFeed, feed.text("feed_url") ?? home ?? feed.text("title") ?? "", id),
      type: PostType(of: media),
      title: item.text("title"),
      text: text(of: item, &omissions),
      publishedAt: try FormatError.time(
        item.text("date_published") ?? item.text("date_modified"), "date_published"),
      author: author(of: item, &omissions) ?? author(of: feed, &omissions),
      url: WebAddress.resolve(item.text("url") ?? item.text("external_url"), base: home),
      thumbnail: WebAddress.resolve(item.text("image") ?? item.text("banner_image"), base: home),
      tags: item.list("tags").compactMap(\.text),
      media: media)
  }

  private static func text(of item: JSONValue, _ omissions: inout Omissions) -> String? {
    if let text = item.text("content_text") { return text }
    if let html = item.text("content_html") {
      let text = HTMLText(html)
      omissions.add(.pictureInText, text.pictures)
      if let plain = text.plain.trimmed { return plain }
    }
    return item.text("summary")
  }

  /// Version 1.1 has a list, version 1 had one author.
  private static func author(of value: JSONValue, _ omissions: inout Omissions) -> Author? {
    guard let author = value.list("authors").first ?? value.present("author") else { return nil }
    if author.text("avatar") != nil { omissions.add(.avatar) }
    let name = author.text("name")
    return (author.text("url") ?? name).map { Author(id: $0, name: name) }
  }

  private static func media(
    of item: JSONValue, home: String?, _ omissions: inout Omissions
  ) -> [Media] {
    var media = item.list("attachments").compactMap { file -> Media? in
      guard let url = WebAddress.resolve(file.text("url"), base: home) else { return nil }
      let type = file.text("mime_type")
      let kind = FileKind(mimeType: type, url: url)
      guard let known = kind.media else {
        omissions.add(kind.omission)
        return nil
      }
      return Media(
        kind: known, url: url, mimeType: type,
        durationMilliseconds: Int(
          rounding: file.member("duration_in_seconds")?.number.map { $0 * 1000 })?.ifPositive,
        bytes: file.number("size_in_bytes")?.ifPositive)
    }
    if media.isEmpty, let url = WebAddress.resolve(item.text("image"), base: home) {
      media = [Media(kind: .image, url: url)]
    }
    return media
  }
}
