import Feed
import JSON

extension SyndicationPage {
  /// The page as a JSON Feed (jsonfeed.org/version/1.1).
  ///
  /// Fields of a post for which the format has no member are in the extension `_lookahead`.
  package var jsonFeed: [UInt8] {
    var writer = JSONWriter(capacity: 1024 * (items.count + 1))
    writer.object { writer in
      writer.member("version", "https://jsonfeed.org/version/1.1")
      writer.member("title", title)
      writer.member("home_page_url", home)
      writer.member("feed_url", url)
      writer.member("next_url", next)
      writer.array("items") { writer in
        for item in items { writer.object { $0.members(of: item, home: home) } }
      }
    }
    return writer.bytes
  }
}

extension JSONWriter {
  fileprivate mutating func members(of item: SyndicationItem, home: String) {
    let post = item.post
    member("id", post.id)
    member("url", item.url)
    member("title", post.title)
    let html = HTMLContent.html(item)
    // The format requires one of the two.
    if post.text != nil || html == nil { member("content_text", post.text ?? "") }
    member("content_html", html)
    member("image", item.picture)
    member("date_published", post.publishedAt?.rfc3339)
    if let author = post.author { authors(author) }
    if !post.tags.isEmpty {
      array("tags") { writer in for tag in post.tags { writer.string(tag) } }
    }
    member("language", post.language)
    if !post.media.isEmpty {
      array("attachments") { writer in
        for file in post.media { writer.object { $0.members(of: file) } }
      }
    }
    object("_lookahead") { writer in
      writer.member("about", home + "openapi.json")
      writer.member("type", post.type.rawValue)
      if !post.counters.isEmpty {
        writer.object("counters") { writer in
          for counter in post.counters {
            writer.key(text: counter.name)
            writer.integer(counter.value)
          }
        }
      }
      if let extra = post.extra {
        writer.key("extra")
        writer.raw(extra.json.utf8)
      }
    }
  }

  private mutating func authors(_ author: Author) {
    guard author.shownName != nil || author.page != nil || author.avatar != nil else { return }
    array("authors") { writer in
      writer.object { writer in
        writer.member("name", author.shownName)
        writer.member("url", author.page)
        writer.member("avatar", author.avatar)
      }
    }
  }

  private mutating func members(of file: Media) {
    member("url", file.url)
    member("mime_type", file.declaredType)
    member("title", file.alt)
    member("size_in_bytes", file.bytes)
    if let milliseconds = file.durationMilliseconds {
      key("duration_in_seconds")
      number(Double(milliseconds) / 1000)
    }
  }
}
