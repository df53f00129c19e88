import Feed
import JSON

/// What Reddit's API answers with: a listing of things, a thing, or what a post's thing holds
/// (reddit.com/dev/api, github.com/reddit-archive/reddit/wiki/JSON).
enum RedditListing {
  /// Makes records of the posts.
  static let translate: JSONReader.Translate = { value, lines, translation in
    let line = lines.line(of: value)
    if value.text("kind") == "Listing", let children = value.present("data")?.member("children") {
      for child in children.elements { take(child, line: lines.line(of: child), &translation) }
    } else {
      take(value, line: line, &translation)
    }
  }

  /// A thing, by its kind; without one, a post as archives have it.
  private static func take(_ thing: JSONValue, line: Int, _ translation: inout Translation) {
    let kind = thing.text("kind") ?? "t3"
    if kind == "t1" || kind == "more" {
      translation.omissions.add(.comment)
      return
    }
    let data = thing.present("data") ?? thing
    guard kind == "t3", data.kind == .object, let name = name(of: data) else {
      translation.refuse("is not a Reddit post: expected kind t3 and a name", line: line)
      return
    }
    if isRemoved(data) {
      translation.omissions.add(.removed)
      return
    }
    translation.add(post(data, id: name, &translation.omissions), line: line)
  }

  /// `t3_1abcd`, its own on all of Reddit.
  private static func name(of data: JSONValue) -> String? {
    data.text("name") ?? data.text("id").map { "t3_\($0)" }
  }

  /// Moderators, filters and authors remove, each in its own way.
  private static func isRemoved(_ data: JSONValue) -> Bool {
    let gone: Set<String?> = ["[removed]", "[deleted]"]
    return data.text("removed_by_category") != nil || gone.contains(data.text("selftext"))
      || (gone.contains(data.text("author")) && gone.contains(data.text("title")))
  }

  /// What stands in `extra` as Reddit has it.
  private static let kept = [
    "over_18", "spoiler", "poll_data", "upvote_ratio", "edited", "locked", "stickied",
    "distinguished", "crosspost_parent", "all_awardings",
  ]

  private static func post(
    _ data: JSONValue, id: String, _ omissions: inout Omissions
  ) -> Post {
    var extra = ExtraMembers()
    extra.add(kept, of: data)
    // A post that passes on another's shows that one's files.
    let origin = data.list("crosspost_parent_list").first ?? data
    let media = RedditMedia(origin).files(&omissions)
    let page = data.text("permalink").map { "https://www.reddit.com" + $0 }
    let target = data.isTrue("is_self") || !media.isEmpty ? nil : data.text("url")
    let url = WebAddress.resolve(target?.withoutReferences)
    if url != nil, url != page { extra.add("permalink", data.member("permalink")) }
    return Post(
      id: id,
      type: data.isTrue("promoted") ? .ad : PostType(of: media),
      title: data.text("title")?.withoutReferences,
      text: data.text("selftext")?.withoutReferences,
      publishedAt: FeedDate.time(secondsSince1970: data.member("created_utc")?.number),
      author: author(of: data),
      url: url ?? page,
      thumbnail: thumbnail(of: data),
      tags: [data.text("subreddit"), data.text("link_flair_text")?.withoutReferences]
        .compactMap { $0 },
      counters: [("likes", "score"), ("comments", "num_comments"), ("shares", "num_crossposts")]
        .compactMap { name, field in data.number(field).map { Counter(name, $0) } },
      extra: extra.extra,
      media: media)
  }

  private static func author(of data: JSONValue) -> Author? {
    guard let name = data.text("author"), name != "[deleted]", name != "[removed]" else {
      return nil
    }
    return Author(id: data.text("author_fullname") ?? name, name: name)
  }

  /// A URL, or a word for a picture of Reddit's own: `self`, `default`, `nsfw`.
  private static func thumbnail(of data: JSONValue) -> String? {
    guard let text = data.text("thumbnail"), StableID.isGlobal(text) else { return nil }
    return WebAddress.resolve(text.withoutReferences)
  }
}

extension String {
  /// Reddit writes three characters as HTML does, wherever they stand, unless it is asked not to
  /// (`raw_json`).
  var withoutReferences: String {
    guard utf8.contains(UInt8(ascii: "&")) else { return self }
    return replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
  }
}
