import Feed
import JSON
import Prefetch

/// A post's id as JSON without quotes.
enum OpenID {
  /// The text of the post itself, in which nothing is escaped.
  case plain(FlatText)
  case escaped([UInt8])
}

extension JSONWriter {
  /// The members of a post from its title to its media: the same in a record and in an item, but for the
  /// ids of its files.
  ///
  /// - Parameters:
  ///   - openID: the post's id as JSON without quotes, of which the ids of its files are made; in a record
  ///     they have none.
  ///   - naming: where clients get the files; a record says what it said.
  ///   - entirely: says all that is known of its files' variants.
  mutating func details(
    of posts: borrowing FlatPosts, at index: Int, openID: OpenID? = nil,
    naming: MediaNames = .verbatim, entirely: Bool = false
  ) {
    let post = posts.posts[index]
    member("title", post.title, of: posts)
    member("text", post.text, of: posts)
    member("language", post.language, of: posts)
    if let time = post.publishedAt { member("publishedAt", time) }
    if let time = post.visibleFrom { member("visibleFrom", time) }
    if let time = post.visibleUntil { member("visibleUntil", time) }
    if post.hasAuthor { author(post, of: posts, naming) }
    if let url = post.url {
      member("url", url: posts.bytes.span.extracting(url.range), naming)
    }
    picture("thumbnail", post.thumbnail, of: posts, naming)
    tags(of: post, of: posts)
    counters(of: post, of: posts)
    extra(post.extra, of: posts)
    guard !post.media.isEmpty else { return }
    key("media")
    array { writer in
      for (ordinal, index) in post.media.enumerated() {
        writer.object { writer in
          let kind = posts.mediaLoads[index].kind
          switch openID {
          case .plain(let text)?:
            writer.mediaID(ordinal, ofPost: posts.bytes.span.extracting(text.range), kind)
          case .escaped(let text)?: writer.mediaID(ordinal, ofPost: text.span, kind)
          case nil: writer.member("kind", plain: kind.name)
          }
          writer.mediaMembers(of: posts, at: index, naming, entirely: entirely)
        }
      }
    }
  }

  /// A member that is one of the posts' texts, left out where there is none.
  mutating func member(_ name: StaticString, _ text: FlatText?, of posts: borrowing FlatPosts) {
    guard let text else { return }
    member(name, utf8: posts.bytes.span.extracting(text.range))
  }

  /// A member that is a time.
  mutating func member(_ name: StaticString, _ time: Timestamp) {
    member(name, capacity: Timestamp.rfc3339Bytes + 2) { text in
      text.append("\"")
      time.appendRFC3339(to: &text)
      text.append("\"")
    }
  }

  /// A member that is a piece of JSON of the posts, as it stands there.
  private mutating func member(
    _ name: StaticString, json: FlatText, of posts: borrowing FlatPosts
  ) {
    let json = posts.bytes.span.extracting(json.range)
    member(name, capacity: json.count) { $0.append(json) }
  }

  private mutating func tags(of post: FlatPost, of posts: borrowing FlatPosts) {
    if let json = post.tagsJSON { return member("tags", json: json, of: posts) }
    guard !post.tags.isEmpty else { return }
    key("tags")
    array { writer in
      for index in post.tags {
        writer.string(utf8: posts.bytes.span.extracting(posts.tags[index].range))
      }
    }
  }

  private mutating func counters(of post: FlatPost, of posts: borrowing FlatPosts) {
    if let json = post.countersJSON { return member("counters", json: json, of: posts) }
    guard !post.counters.isEmpty else { return }
    key("counters")
    object { writer in
      for index in post.counters {
        let counter = posts.counters[index]
        writer.key(utf8: posts.bytes.span.extracting(counter.name.range))
        writer.integer(counter.value)
      }
    }
  }

  /// A file's id, and what it is.
  private mutating func mediaID(_ ordinal: Int, ofPost openID: Span<UInt8>, _ kind: MediaKind) {
    member("id", capacity: openID.count + OutputSpan<UInt8>.mediaIDCapacity + 32) { text in
      text.append(mediaID: ordinal, ofPost: openID)
      text.append(key: "kind")
      text.append(plain: kind.name)
    }
  }

  private mutating func author(
    _ post: FlatPost, of posts: borrowing FlatPosts, _ naming: MediaNames
  ) {
    key("author")
    object { writer in
      writer.member("id", post.authorID, of: posts)
      writer.member("name", post.authorName, of: posts)
      writer.picture("avatar", post.authorAvatar, of: posts, naming)
      writer.extra(post.authorExtra, of: posts)
    }
  }

  /// The URL of a small picture that stands for something: where clients get it, it is one of the files.
  private mutating func picture(
    _ name: StaticString, _ text: FlatText?, of posts: borrowing FlatPosts,
    _ naming: MediaNames
  ) {
    guard let text else { return }
    let url = posts.bytes.span.extracting(text.range)
    if let named = naming.name(of: url, version: nil)?.url {
      return member(name, url: named.span, naming)
    }
    member(name, url: url, naming)
  }

  /// What the origin says beyond what is known, as it stands.
  private mutating func extra(_ json: FlatText?, of posts: borrowing FlatPosts) {
    if let json { member("extra", json: json, of: posts) }
  }

  private mutating func mediaMembers(
    of posts: borrowing FlatPosts, at index: Int, _ naming: MediaNames, entirely: Bool
  ) {
    let file = posts.media[index]
    let load = posts.mediaLoads[index]
    let url = posts.bytes.span.extracting(file.url.range)
    // In a span: a truth has many references, and is not copied.
    let truths = posts.truths.span
    location(url, naming.name(of: url, version: file.truth.flatMap { truths[$0].version }), naming)
    member("alt", file.alt, of: posts)
    picture("poster", file.poster, of: posts, naming)
    var isSeen = false
    if let index = file.truth, !truths[index].isUnavailable {
      if !naming.areVerbatim { member("version", truths[index].version?.mark) }
      itemMembers(of: truths[index], naming, entirely: entirely)
      isSeen = truths[index].placeholder != nil
    } else {
      member("mimeType", file.mimeType, of: posts)
      member("codec", file.codec, of: posts)
      numbers(
        width: file.width, height: file.height, durationMilliseconds: load.durationMilliseconds,
        bytes: file.truth == nil ? load.bytes : nil)
      if file.truth != nil { literal(capacity: 24) { $0.append(#","unavailable":true"#) } }
    }
    // What somebody has seen of the file goes before what its origin says.
    if let index = file.placeholder, !isSeen {
      key("placeholder")
      placeholder(posts.placeholders[index])
    }
    extra(file.extra, of: posts)
  }
}

extension JSONWriter {
  /// The numbers of a file, behind other members.
  mutating func numbers(width: Int?, height: Int?, durationMilliseconds: Int?, bytes: Int?) {
    literal(capacity: 4 * OutputSpan<UInt8>.decimalCapacity + 48) { text in
      text.append(member: "width", width)
      text.append(member: "height", height)
      text.append(member: "durationMs", durationMilliseconds)
      text.append(member: "bytes", bytes)
    }
  }
}

extension JSONWriter {
  /// The members that say where a file is.
  mutating func location(_ url: Span<UInt8>, _ name: MediaName?, _ naming: MediaNames) {
    guard let name else { return member("url", url: url, naming) }
    if let named = name.url {
      member("url", url: named.span, naming)
    } else {
      member("url", url: url, naming)
    }
    if let immutableURL = name.immutableURL {
      member("immutableUrl", url: immutableURL.span, naming)
    }
    if let expiresAt = name.expiresAt { member("expiresAt", expiresAt) }
  }

  /// A member that is a URL, with all percent-encoded that cannot stand in one (RFC 3986 section 2), as people
  /// write names: spaces, letters beyond ASCII. What stands in front of a path, host and port, stays as it is:
  /// whoever resolves the name has its own encoding for it.
  mutating func member(_ name: StaticString, url: Span<UInt8>, _ naming: MediaNames) {
    var others = false
    for index in url.indices { others = others || !url[index].standsInURL }
    guard others, !naming.areVerbatim else { return member(name, utf8: url) }
    var encoded: [UInt8] = []
    let pathStart = Self.pathStart(of: url)
    for index in url.indices {
      let byte = url[index]
      if index < pathStart || byte.standsInURL {
        encoded.append(byte)
      } else {
        encoded.append(UInt8(ascii: "%"))
        encoded.append(byte.hexadecimalDigits.high)
        encoded.append(byte.hexadecimalDigits.low)
      }
    }
    member(name, utf8: encoded.span)
  }

  /// Where what follows the host begins: 0 where there is none.
  private static func pathStart(of url: Span<UInt8>) -> Int {
    guard let colon = url.indices.first(where: { url[$0] == UInt8(ascii: ":") }),
      colon + 2 < url.count, url[colon + 1] == UInt8(ascii: "/"),
      url[colon + 2] == UInt8(ascii: "/"),
      !url.indices.prefix(colon).contains(where: { url[$0] == UInt8(ascii: "/") })
    else { return 0 }
    let ends = "/?#".utf8
    return url.indices.dropFirst(colon + 3).first { ends.contains(url[$0]) } ?? url.count
  }
}

extension UInt8 {
  /// Whether a URL may hold it: a percent sign, too, for what is encoded stays so.
  fileprivate var standsInURL: Bool {
    // A bit for each byte of ASCII; those that are missing are controls, the space and "<>\^`{|}.
    let words: (UInt64, UInt64) = (0xAFFF_FFFA_0000_0000, 0x47FF_FFFE_AFFF_FFFF)
    if self < 64 { return words.0 >> UInt64(self) & 1 == 1 }
    return self < 128 && words.1 >> UInt64(self - 64) & 1 == 1
  }

  fileprivate var hexadecimalDigits: (high: UInt8, low: UInt8) {
    func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x41 + value - 10 }
    return (digit(self >> 4), digit(self & 15))
  }
}

extension OutputSpan<UInt8> {
  /// What the id of a file takes at the most, beside its post's.
  static var mediaIDCapacity: Int { 24 }

  /// The id of a post's file, quotes and all: the post's id, which comes as JSON without quotes, and the
  /// file's index. Wherever such an id stands, it was made here.
  mutating func append(mediaID index: Int, ofPost openID: Span<UInt8>) {
    append("\"")
    append(openID)
    append(".")
    append(decimal: index)
    append("\"")
  }
}

/// Where in the writer's bytes an item lies, and what of it is needed again.
public struct ItemText: Sendable {
  /// The item, an object.
  public let json: Range<Int>
  /// Its id, without quotes.
  public let openID: Range<Int>
  /// How many bytes its last member has, the hint, with the comma before it.
  public let hintCount: Int
}

extension JSONWriter {
  /// The post at this index as an item, as pages and its own route show it.
  ///
  /// - Parameters:
  ///   - placements: the feeds that the item names: on its own those in which it is, on a page none. On its
  ///     own it says of its files' variants how far their bytes play, too.
  ///   - naming: where clients get its files; or the URLs of its record alone.
  @discardableResult
  public mutating func item(
    _ posts: borrowing FlatPosts, at index: Int, in placements: [Placement]? = nil,
    naming: MediaNames = .asRecorded, hint: Hint
  ) -> ItemText {
    let post = posts.posts[index]
    var id = 0..<0
    var end = 0
    var start = 0
    object { writer in
      start = writer.bytes.count - 1
      writer.member("id", post.id, of: posts)
      // Between the quotes.
      id = start + Self.openIDOffset..<writer.bytes.count - 1
      if let placements { writer.feeds(placements) }
      writer.member("type", plain: post.type.name)
      let openID: OpenID =
        id.count == post.id.range.count ? .plain(post.id) : .escaped(Array(writer.bytes[id]))
      writer.details(
        of: posts, at: index, openID: openID, naming: naming, entirely: placements != nil)
      if let survival = post.survival { writer.member("survival", json: survival, of: posts) }
      end = writer.bytes.count
      writer.literal(capacity: OutputSpan<UInt8>.hintCapacity) { $0.append(hint: hint) }
    }
    return ItemText(json: start..<bytes.count, openID: id, hintCount: bytes.count - 1 - end)
  }

  /// `{"id":"`
  private static var openIDOffset: Int { 7 }
}

extension OutputSpan<UInt8> {
  /// What `append(hint:)` writes at the most.
  public static var hintCapacity: Int { 160 }

  /// The member `prefetch` of an item, behind other members.
  public mutating func append(hint: Hint) {
    append(#","prefetch":{"weight":"#)
    append(decimal: hint.weight)
    append(#","minimumBytes":"#)
    append(decimal: hint.minimumBytes)
    append(#","entireBytes":"#)
    append(decimal: hint.entireBytes)
    append(hint.isEstimated ? #","estimated":true}"# : "}")
  }
}
