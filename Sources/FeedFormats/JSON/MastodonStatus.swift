import Feed
import JSON

/// A status of a timeline (docs.joinmastodon.org/entities/Status).
enum MastodonStatus {
  /// Makes a record of a status; of one that was boosted, that.
  static let translate: JSONReader.Translate = { status, lines, translation in
    let line = lines.line(of: status)
    var status = status
    if let original = status.present("reblog") {
      status = original
      translation.omissions.add(.boost)
    }
    do throws(FormatError) {
      translation.add(try post(status, &translation.omissions), line: line)
    } catch {
      translation.refuse(error.description, line: line)
    }
  }

  private static func post(
    _ status: JSONValue, _ omissions: inout Omissions
  ) throws(FormatError) -> Post {
    guard status.present("account") != nil, let id = status.text("uri") ?? status.text("url") else {
      throw FormatError("is no status of Mastodon: one has an account and a uri")
    }
    if status.isTrue("sensitive") { omissions.add(.sensitive) }
    if status.present("poll") != nil { omissions.add(.poll) }
    if status.present("card") != nil { omissions.add(.card) }
    if status.text("language") != nil { omissions.add(.language) }
    let files = status.list("media_attachments")
    let media = files.compactMap { Self.media($0, &omissions) }
    let text = status.text("content").map { HTMLText($0) }
    return Post(
      id: StableID.make(.mastodon, id),
      type: PostType(of: media),
      title: status.text("spoiler_text"),
      text: text?.plain.trimmed,
      publishedAt: try FormatError.time(status.text("created_at"), "created_at"),
      author: author(of: status, &omissions),
      url: WebAddress.resolve(status.text("url") ?? status.text("uri")),
      thumbnail: files.lazy.compactMap { WebAddress.resolve($0.text("preview_url")) }.first,
      tags: status.list("tags").compactMap { $0.text("name") },
      counters: [
        ("comments", "replies_count"), ("shares", "reblogs_count"), ("likes", "favourites_count"),
      ].compactMap { name, field in status.number(field).map { Counter(name, $0) } },
      media: media)
  }

  /// Known by the address that everybody can write to, whichever server the timeline is of.
  private static func author(of status: JSONValue, _ omissions: inout Omissions) -> Author? {
    guard let account = status.present("account") else { return nil }
    if account.text("avatar") != nil { omissions.add(.avatar) }
    guard let name = account.text("acct") ?? account.text("username") else { return nil }
    let host = name.contains("@") ? nil : WebAddress.host(of: account.text("url"))
    return Author(
      id: host.map { "\(name)@\($0)" } ?? name, name: account.text("display_name") ?? name)
  }

  private static func media(_ file: JSONValue, _ omissions: inout Omissions) -> Media? {
    guard let url = WebAddress.resolve(file.text("url") ?? file.text("remote_url")) else {
      omissions.add(.file)
      return nil
    }
    let kind: FileKind =
      switch file.text("type") {
      case "image": .image
      // A clip without sound, which was a GIF.
      case "video", "gifv": .video
      case "audio": .sound
      default: .other
      }
    guard let known = kind.media else {
      omissions.add(kind.omission)
      return nil
    }
    if file.text("description") != nil { omissions.add(.description) }
    let size = file.present("meta")?.present("original")
    return Media(
      kind: known, url: url,
      width: size?.number("width")?.ifPositive, height: size?.number("height")?.ifPositive,
      durationMilliseconds: known == .video
        ? Int(rounding: size?.member("duration")?.number.map { $0 * 1000 })?.ifPositive : nil)
  }
}
