import Feed
import JSON

/// A post built from the fields of a row or an object, one by one.
struct MappedPost {
  private var post = Post(id: "", type: .text)
  private var type: PostType?
  private var feed: String?
  private var rank: Int?
  private var author = Author()
  private var extra = ExtraMembers()
  private var files: [Int: File] = [:]

  private struct File {
    var media = Media(kind: .image, url: "")
    var kind: MediaKind?
  }

  private let zone: LocalTimeZone

  /// Creates an empty post with the feed and the time zone for values that name none.
  init(feed: String?, zone: LocalTimeZone) { (self.feed, self.zone) = (feed, zone) }

  /// Sets a field from the text of a column.
  mutating func set(_ field: ColumnField, _ text: String) throws(FormatError) {
    switch field {
    case .id: post.id = text
    case .type: type = try Self.option(text, "type")
    case .title: post.title = text
    case .text: post.text = text
    case .language: post.language = text
    case .publishedAt: post.publishedAt = try FormatError.time(text, "publishedAt", zone)
    case .authorID: author.id = text
    case .authorName: author.name = text
    case .authorAvatar: author.avatar = text
    case .url: post.url = text
    case .thumbnail: post.thumbnail = text
    case .tags:
      post.tags += text.split { $0 == "," || $0 == ";" }.compactMap(\.trimmed)
    case .feed: feed = text
    case .rank: rank = try Self.number(text, "rank")
    case .visibleFrom: post.visibleFrom = try FormatError.time(text, "visibleFrom", zone)
    case .visibleUntil: post.visibleUntil = try FormatError.time(text, "visibleUntil", zone)
    case .counter(let name):
      post.counters.append(Counter(name, try Self.number(text, "counters.\(name)")))
    case .extra(let name): extra.add(name, text: text)
    case .media(let index, let part): try set(part, text, &files[index, default: File()], index)
    }
  }

  private func set(
    _ part: ColumnField.MediaPart, _ text: String, _ file: inout File, _ index: Int
  ) throws(FormatError) {
    let name = "media[\(index)].\(part.rawValue)"
    switch part {
    case .url: file.media.url = text
    case .kind: file.kind = try Self.option(text, name)
    case .alt: file.media.alt = text
    case .poster: file.media.poster = text
    case .mimeType: file.media.mimeType = text
    case .codec: file.media.codec = text
    case .width: file.media.width = try Self.number(text, name)
    case .height: file.media.height = try Self.number(text, name)
    case .bytes: file.media.bytes = try Self.number(text, name)
    case .duration: file.media.durationMilliseconds = try Self.number(text, name)
    }
  }

  /// Adds a tag unchanged.
  mutating func add(tag: String) { post.tags.append(tag) }

  /// Adds a member of `extra` unchanged.
  mutating func add(extra name: String, _ value: JSONValue) { extra.add(name, value) }

  /// Returns the post and its placement. A post without an id gets one from its URL, or else from
  /// `identity`, its whole content.
  func record(
    _ format: FeedFormat, identity: String, _ omissions: inout Omissions
  ) throws(FormatError) -> (Post, [Placement]) {
    var post = post
    for index in files.keys.sorted() {
      guard var file = files[index], !file.media.url.isEmpty else { continue }
      let kind = FileKind(mimeType: file.media.mimeType, url: file.media.url)
      guard let known = file.kind ?? kind.media else {
        omissions.add(.file)
        continue
      }
      file.media.kind = known
      post.media.append(file.media)
    }
    post.type = type ?? PostType(of: post.media)
    if post.id.isEmpty {
      post.id = StableID.make(format, post.url ?? identity)
    }
    post.author = author == Author() ? nil : author
    post.extra = extra.extra
    post.counters.sort { $0.name.precedesByBytes($1.name) }
    if rank != nil, feed == nil {
      throw FormatError("rank: needs a feed: map a value to feed, or use --feed")
    }
    return (post, feed.map { [Placement(feed: $0, rank: rank)] } ?? [])
  }

  private static func number(_ text: String, _ name: String) throws(FormatError) -> Int {
    guard let number = Int(text) else {
      throw FormatError("\(name): \"\(text.prefix(40))\" is not a whole number")
    }
    return number
  }

  private static func option<Option: RawRepresentable & CaseIterable>(
    _ text: String, _ name: String
  ) throws(FormatError) -> Option where Option.RawValue == String {
    guard let option = Option(rawValue: text) else {
      let known = Option.allCases.map(\.rawValue).joined(separator: ", ")
      throw FormatError("\(name): \"\(text.prefix(40))\" is not one of \(known)")
    }
    return option
  }
}
