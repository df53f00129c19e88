import CivilTime
import Feed

extension SyndicationPage {
  /// The page as RSS 2.0 (rssboard.org/rss-specification), with modules that readers know (content, Dublin
  /// Core, slash, Media RSS) and links to the adjacent pages (RFC 5005 section 3).
  package var rss: [UInt8] {
    var writer = XMLWriter()
    let spaces: [(StaticString, String?)] = [
      ("version", "2.0"), ("xmlns:atom", "http://www.w3.org/2005/Atom"),
      ("xmlns:content", "http://purl.org/rss/1.0/modules/content/"),
      ("xmlns:dc", "http://purl.org/dc/elements/1.1/"),
      ("xmlns:slash", "http://purl.org/rss/1.0/modules/slash/"),
      ("xmlns:media", "http://search.yahoo.com/mrss/"),
    ]
    writer.element("rss", spaces) { writer in
      writer.element("channel") { writer in
        writer.element("title", text: title)
        writer.element("link", text: home)
        writer.element("description", text: title)
        writer.element("generator", text: "Lookahead")
        for (relation, target) in [
          ("self", url), ("first", first), ("previous", previous), ("next", next),
        ] where target != nil {
          writer.element(
            "atom:link",
            [("rel", relation), ("type", "application/rss+xml"), ("href", target)])
        }
        for item in items { writer.element("item") { $0.members(of: item) } }
      }
    }
    return writer.bytes
  }
}

extension XMLWriter {
  fileprivate mutating func members(of item: SyndicationItem) {
    let post = item.post
    // The format requires a title or a description.
    let text = post.text.map(HTMLContent.paragraphs)
    element("title", text: post.title ?? (text == nil ? post.id : nil))
    element("link", text: item.url)
    element("guid", [("isPermaLink", "false")], text: post.id)
    element("pubDate", text: post.publishedAt?.internetMessageDate)
    element("dc:creator", text: post.author?.shownName ?? post.author?.page)
    element("dc:language", text: post.language)
    for tag in post.tags { element("category", text: tag) }
    element("description", text: text)
    if !post.media.isEmpty { element("content:encoded", text: HTMLContent.html(item)) }
    // Most readers support one enclosure, and play it.
    if let file = post.media.first(where: { $0.kind.plays }) ?? post.media.first {
      element(
        "enclosure",
        [("url", file.url), ("length", String(file.bytes ?? 0)), ("type", file.declaredType)])
    }
    for file in post.media { media(file) }
    if let thumbnail = post.thumbnail { element("media:thumbnail", [("url", thumbnail)]) }
    for counter in post.counters where counter.value >= 0 {
      switch counter.name {
      case "comments": element("slash:comments", text: String(counter.value))
      case "views":
        element("media:community") {
          $0.element("media:statistics", [("views", String(counter.value))])
        }
      default: break
      }
    }
  }

  private mutating func media(_ file: Media) {
    let seconds = file.durationMilliseconds.map { milliseconds in
      let text = String(Double(milliseconds) / 1000)
      return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
    element(
      "media:content",
      [
        ("url", file.url), ("type", file.declaredType), ("medium", file.kind.rawValue),
        ("width", file.width.map(String.init)), ("height", file.height.map(String.init)),
        ("duration", seconds), ("fileSize", file.bytes.map(String.init)),
      ]
    ) { writer in
      writer.element("media:description", [("type", "plain")], text: file.alt)
      if let poster = file.poster { writer.element("media:thumbnail", [("url", poster)]) }
    }
  }
}

extension Timestamp {
  /// The time in whole seconds, in the form of RFC 822 with a four-digit year:
  /// `Sat, 28 Jul 2012 23:05:56 GMT`.
  var internetMessageDate: String {
    let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    let time = CivilTime(secondsSince1970: Int(seconds) - (rest < 0 ? 1 : 0))
    var text = Array("\(Self.weekdays[time.weekday]), ".utf8)
    text.append(time.day, digits: 2)
    text += " \(Self.months[time.month - 1]) ".utf8
    text.append(time.year, digits: 4)
    text.append(UInt8(ascii: " "))
    time.appendTimeOfDay(to: &text)
    text += " GMT".utf8
    return String(decoding: text, as: UTF8.self)
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
