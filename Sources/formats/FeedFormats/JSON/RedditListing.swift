import Feed
import JSON

/// Responses of Reddit's API: a listing of things, a thing, or the data of a post's thing
/// (reddit.com/dev/api, github.com/reddit-archive/reddit/wiki/JSON).
enum RedditListing {
  /// Makes records from the posts.
  static let translate: JSONReader.Translate = { value, lines, translation in
    let line = lines.line(of: value)
    if value.text("kind") == "Listing", let children = value.present("data")?.member("children") {
      for child in children.elements { take(child, line: lines.line(of: child), &translation) }
    } else {
      take(value, line: line, &translation)
    }
  }

  /// Takes a thing by its kind. A thing without a kind is a post, as archives store it.
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

  /// The full name `t3_1abcd`, unique on all of Reddit.
  private static func name(of data: JSONValue) -> String? {
    data.text("name") ?? data.text("id").map { "t3_\($0)" }
  }

  /// Whether a post was removed; moderators, filters and authors each leave a different mark.
  private static func isRemoved(_ data: JSONValue) -> Bool {
    let gone: Set<String?> = ["[removed]", "[deleted]"]
    return data.text("removed_by_category") != nil || gone.contains(data.text("selftext"))
      || (gone.contains(data.text("author")) && gone.contains(data.text("title")))
  }

  /// The members that `extra` keeps unchanged.
  private static let kept = [
    "over_18", "spoiler", "poll_data", "upvote_ratio", "edited", "locked", "stickied",
    "distinguished", "crosspost_parent", "all_awardings",
  ]

  private static func post(
    _ data: JSONValue, id: String, _ omissions: inout Omissions
  ) -> Post {
    var extra = ExtraMembers()
    extra.add(kept, of: data)
    // A crosspost shows the files of the original post.
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

  /// The thumbnail's URL; Reddit also uses words for its own pictures: `self`, `default`, `nsfw`.
  private static func thumbnail(of data: JSONValue) -> String? {
    guard let text = data.text("thumbnail"), StableID.isGlobal(text) else { return nil }
    return WebAddress.resolve(text.withoutReferences)
  }
}

extension String {
  /// The text with three HTML references decoded, which Reddit writes everywhere unless
  /// a request has `raw_json`.
  var withoutReferences: String {
    guard utf8.contains(UInt8(ascii: "&")) else { return self }
    return replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
  }
}
