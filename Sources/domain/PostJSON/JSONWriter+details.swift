import Feed
import JSON
import Prefetch

/// A post's id as JSON without quotes.
enum OpenID {
  /// The text of the post itself, if nothing in it must be escaped.
  case plain(FlatText)
  case escaped([UInt8])
}

extension JSONWriter {
  /// Writes the members of a post from its title to its media. They are the same in a record and in an
  /// item, except for the ids of files.
  ///
  /// - Parameters:
  ///   - openID: The post's id as JSON without quotes, from which the ids of its files are made; `nil` in a
  ///     record, where they have none.
  ///   - naming: The URLs at which clients get the files; a record keeps its own.
  ///   - entirely: Whether to write everything that is known of the files' variants.
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
    tags(of: posts, at: index)
    counters(of: posts, at: index)
    extra(post.extra, of: posts)
    let media = posts.media(of: index)
    guard !media.isEmpty else { return }
    array("media") { writer in
      for (ordinal, index) in media.enumerated() {
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

  /// Writes a text of the posts as a member; omits it if there is none.
  mutating func member(_ name: StaticString, _ text: FlatText?, of posts: borrowing FlatPosts) {
    guard let text else { return }
    member(name, utf8: posts.bytes.span.extracting(text.range))
  }

  /// Writes a time as a member.
  mutating func member(_ name: StaticString, _ time: Timestamp) {
    member(name, capacity: Timestamp.rfc3339Bytes + 2) { text in
      text.append("\"")
      time.appendRFC3339(to: &text)
      text.append("\"")
    }
  }

  /// Writes stored JSON of the posts as a member, unchanged.
  private mutating func member(
    _ name: StaticString, json: FlatText, of posts: borrowing FlatPosts
  ) {
    let json = posts.bytes.span.extracting(json.range)
    member(name, capacity: json.count) { $0.append(json) }
  }

  private mutating func tags(of posts: borrowing FlatPosts, at index: Int) {
    if let json = posts.posts[index].tagsJSON { return member("tags", json: json, of: posts) }
    let tags = posts.tags(of: index)
    guard !tags.isEmpty else { return }
    array("tags") { writer in
      for index in tags {
        writer.string(utf8: posts.bytes.span.extracting(posts.tags[index].range))
      }
    }
  }

  private mutating func counters(of posts: borrowing FlatPosts, at index: Int) {
    if let json = posts.posts[index].countersJSON {
      return member("counters", json: json, of: posts)
    }
    let counters = posts.counters(of: index)
    guard !counters.isEmpty else { return }
    object("counters") { writer in
      for index in counters {
        let counter = posts.counters[index]
        writer.key(utf8: posts.bytes.span.extracting(counter.name.range))
        writer.integer(counter.value)
      }
    }
  }

  /// Writes a file's id and kind.
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
    object("author") { writer in
      writer.member("id", post.authorID, of: posts)
      writer.member("name", post.authorName, of: posts)
      writer.picture("avatar", post.authorAvatar, of: posts, naming)
      writer.extra(post.authorExtra, of: posts)
    }
  }

  /// Writes the URL of a thumbnail, poster or avatar, which `naming` names like a media file.
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

  /// Writes the origin's other fields, unchanged.
  private mutating func extra(_ json: FlatText?, of posts: borrowing FlatPosts) {
    if let json { member("extra", json: json, of: posts) }
  }

  private mutating func mediaMembers(
    of posts: borrowing FlatPosts, at index: Int, _ naming: MediaNames, entirely: Bool
  ) {
    let file = posts.media[index]
    let load = posts.mediaLoads[index]
    let url = posts.bytes.span.extracting(file.url.range)
    // Accessed through a span, and field by field: the facts have many references and are not copied.
    let truths = posts.truths.span
    let version: MediaVersion? = if let index = file.truth { truths[index].version } else { nil }
    location(url, naming.name(of: url, version: version), naming)
    member("alt", file.alt, of: posts)
    picture("poster", file.poster, of: posts, naming)
    var isSeen = false
    if let index = file.truth, version != .unavailable {
      if !naming.areVerbatim { member("version", version?.mark) }
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
    // The placeholder from a probe takes precedence over the origin's.
    if let index = file.placeholder, !isSeen {
      key("placeholder")
      placeholder(posts.placeholders[index])
    }
    extra(file.extra, of: posts)
  }
}

extension JSONWriter {
  /// Writes the numbers of a file, after other members.
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
  /// Writes the members with the URLs of a file.
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

  /// Writes a URL as a member. Percent-encodes the bytes that a URL must not contain (RFC 3986 section 2),
  /// such as spaces and letters beyond ASCII. The host and port before the path stay unchanged, because
  /// name resolution has its own encoding for them.
  mutating func member(_ name: StaticString, url: Span<UInt8>, _ naming: MediaNames) {
    if naming.areVerbatim { return member(name, utf8: url) }
    // None of the bytes that a URL may contain needs an escape.
    if url.standsInURL { return member(name, plain: url) }
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

  /// Returns the index after the host; 0 if there is no host.
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

extension Span<UInt8> {
  /// Whether a URL may contain all of the bytes. They are checked sixteen at a time: one at a time took 6 % of the
  /// instructions of a page that is read from SQLite.
  fileprivate var standsInURL: Bool {
    withUnsafeBytes { bytes in
      var index = 0
      while index < bytes.count {
        // The last block may begin in the one before.
        let start = Swift.min(index, bytes.count - 16)
        guard start >= 0,
          bytes.loadUnaligned(fromByteOffset: start, as: SIMD16<UInt8>.self).standInURL
        else { return bytes[index...].allSatisfy(\.standsInURL) }
        index = start + 16
      }
      return true
    }
  }
}

extension SIMD16<UInt8> {
  /// Whether a URL may contain all of the bytes; also false for a tilde, which it may contain.
  @inline(__always)
  fileprivate var standInURL: Bool {
    let others =
      (self .< SIMD16(repeating: 0x21)) .| (self .> SIMD16(repeating: 0x7a))
      .| (self .== SIMD16(repeating: UInt8(ascii: "\"")))
      .| (self .== SIMD16(repeating: UInt8(ascii: "`")))
      // Of printable bytes those of <>\^|~.
      .| ((self & SIMD16(repeating: 0x9d)) .== SIMD16(repeating: 0x1c))
    // Safe: a mask has a byte of zeros or ones for each of the sixteen. `any` would look at them one by one.
    let words = unsafeBitCast(others, to: SIMD2<UInt64>.self)
    return words.x | words.y == 0
  }
}

extension UInt8 {
  /// Whether a URL may contain the byte. A percent sign may occur, so that encoded bytes stay as they are.
  fileprivate var standsInURL: Bool {
    // A bit for each byte of ASCII; 0 for controls, the space and "<>\^`{|}.
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
  /// The maximum size of a file's id without its post's id.
  static var mediaIDCapacity: Int { 24 }

  /// Appends the id of a post's file, with quotes: the post's id, which is passed as JSON without quotes,
  /// and the file's index. This is the only place that makes such ids.
  mutating func append(mediaID index: Int, ofPost openID: Span<UInt8>) {
    append("\"")
    append(openID)
    append(".")
    append(decimal: index)
    append("\"")
  }
}

/// The range of an item in the writer's bytes, and of the parts that are needed again.
public struct ItemText: Sendable {
  /// The range of the item, an object.
  public let json: Range<Int>
  /// The range of its id, without quotes.
  public let openID: Range<Int>
  /// The number of bytes of its last member, the hint, including the comma before it.
  public let hintCount: Int
}

extension JSONWriter {
  /// Writes the post at this index as an item, as on pages and on its own route.
  ///
  /// - Parameters:
  ///   - placements: The item's feeds, for an item on its own; `nil` on a page. An item on its own also has
  ///     the curves of its files' variants.
  ///   - naming: The URLs at which clients get the files; by default those of the record.
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
      // The range between the quotes.
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
  /// The maximum number of bytes that `append(hint:)` writes.
  public static var hintCapacity: Int { 160 }

  /// Appends the member `prefetch` of an item, after other members.
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
