import Feed
import JSON

/// A status of a timeline (docs.joinmastodon.org/entities/Status).
enum MastodonStatus {
  /// Makes a record from a status; from a boost, a record of the boosted status.
  static let translate: JSONReader.Translate = { status, lines, translation in
    let line = lines.line(of: status)
    let original = status.present("reblog")
    let booster = original == nil ? nil : status.present("account")?.text("acct")
    do throws(FormatError) {
      translation.add(
        try post(original ?? status, boostedBy: booster, &translation.omissions), line: line)
    } catch {
      translation.refuse(error.description, line: line)
    }
  }

  /// The members that `extra` keeps unchanged.
  private static let kept = [
    "id", "sensitive", "poll", "card", "edited_at", "in_reply_to_id", "in_reply_to_account_id",
    "mentions", "emojis", "application",
  ]

  private static func post(
    _ status: JSONValue, boostedBy booster: String?, _ omissions: inout Omissions
  ) throws(FormatError) -> Post {
    guard status.present("account") != nil, let id = status.text("uri") ?? status.text("url") else {
      throw FormatError("is not a Mastodon status: expected an account and a uri")
    }
    var extra = ExtraMembers()
    if let url = status.text("url"), !url.isSame(as: id) { extra.add("uri", text: id) }
    extra.add(kept, of: status)
    if status.text("visibility") != "public" {
      extra.add("visibility", status.member("visibility"))
    }
    extra.add("reblogged_by", text: booster)
    let files = status.list("media_attachments")
    let media = files.compactMap { Self.media($0, &omissions) }
    let text = status.text("content").map { HTMLText($0) }
    return Post(
      id: StableID.make(.mastodon, id),
      type: PostType(of: media),
      title: status.text("spoiler_text"),
      text: text?.plain.trimmed,
      language: omissions.language(status.text("language")),
      publishedAt: try FormatError.time(status.text("created_at"), "created_at", .utc),
      author: author(of: status),
      url: WebAddress.resolve(status.text("url") ?? status.text("uri")),
      thumbnail: files.lazy.compactMap { WebAddress.resolve($0.text("preview_url")) }.first,
      tags: status.list("tags").compactMap { $0.text("name") },
      counters: [
        ("comments", "replies_count"), ("shares", "reblogs_count"), ("likes", "favourites_count"),
      ].compactMap { name, field in status.number(field).map { Counter(name, $0) } },
      extra: extra.extra,
      media: media)
  }

  /// The author, identified by the full address `user@host` whichever server the timeline is from.
  private static func author(of status: JSONValue) -> Author? {
    guard let account = status.present("account") else { return nil }
    guard let name = account.text("acct") ?? account.text("username") else { return nil }
    let host = name.contains("@") ? nil : WebAddress.host(of: account.text("url"))
    return Author(
      id: host.map { "\(name)@\($0)" } ?? name, name: account.text("display_name") ?? name,
      avatar: WebAddress.resolve(account.text("avatar")))
  }

  private static func media(_ file: JSONValue, _ omissions: inout Omissions) -> Media? {
    guard let url = WebAddress.resolve(file.text("url") ?? file.text("remote_url")) else {
      omissions.add(.file)
      return nil
    }
    let kind: FileKind =
      switch file.text("type") {
      case "image": .image
      // A silent clip that was uploaded as a GIF.
      case "video", "gifv": .video
      case "audio": .sound
      default: .other
      }
    guard let known = kind.media else {
      omissions.add(.file)
      return nil
    }
    let size = file.present("meta")?.present("original")
    let preview = WebAddress.resolve(file.text("preview_url"))
    var extra = ExtraMembers()
    extra.add(["blurhash"], of: file)
    extra.add("focus", file.present("meta")?.member("focus"))
    if file.text("url") != nil { extra.add("remote_url", file.member("remote_url")) }
    let alt = AltText(file.text("description"), &extra)
    return Media(
      kind: known, url: url, alt: alt.text, poster: known.plays ? preview : nil,
      width: size?.number("width")?.ifPositive, height: size?.number("height")?.ifPositive,
      durationMilliseconds: known.plays
        ? Int(rounding: size?.member("duration")?.number.map { $0 * 1000 })?.ifPositive : nil,
      extra: extra.extra)
  }
}
