import Feed
import JSON

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
    of posts: borrowing FlatPosts, at index: Int, openID: [UInt8]? = nil,
    naming: (any MediaNaming)? = nil, entirely: Bool = false
  ) {
    let post = posts.posts[index]
    member("title", post.title, of: posts)
    member("text", post.text, of: posts)
    member("language", post.language, of: posts)
    if let time = post.publishedAt { member("publishedAt", utf8: time.rfc3339UTF8) }
    if post.hasAuthor { author(post, of: posts, naming) }
    member("url", post.url, of: posts)
    picture("thumbnail", post.thumbnail, of: posts, naming)
    if !post.tags.isEmpty { tags(post.tags, of: posts) }
    if !post.counters.isEmpty { counters(post.counters, of: posts) }
    extra(post.extra, of: posts)
    guard !post.media.isEmpty else { return }
    key("media")
    array { writer in
      for (ordinal, index) in post.media.enumerated() {
        writer.object { writer in
          if let openID { writer.mediaID(ordinal, ofPost: openID) }
          writer.mediaMembers(of: posts, at: index, naming, entirely: entirely)
        }
      }
    }
  }

  /// A member that is one of the posts' texts, left out where there is none.
  mutating func member(_ name: StaticString, _ text: FlatText?, of posts: borrowing FlatPosts) {
    guard let text else { return }
    key(name)
    string(utf8: posts.bytes.span.extracting(text.range))
  }

  fileprivate mutating func member(_ name: StaticString, utf8: [UInt8]) {
    key(name)
    string(utf8: utf8.span)
  }

  private mutating func tags(_ tags: Range<Int>, of posts: borrowing FlatPosts) {
    key("tags")
    array { writer in
      for index in tags {
        writer.string(utf8: posts.bytes.span.extracting(posts.tags[index].range))
      }
    }
  }

  private mutating func counters(_ counters: Range<Int>, of posts: borrowing FlatPosts) {
    key("counters")
    object { writer in
      for index in counters {
        let counter = posts.counters[index]
        writer.key(utf8: posts.bytes.span.extracting(counter.name.range))
        writer.integer(counter.value)
      }
    }
  }

  private mutating func mediaID(_ ordinal: Int, ofPost openID: [UInt8]) {
    key("id")
    literal(capacity: openID.count + OutputSpan<UInt8>.mediaIDCapacity) { text in
      text.append(mediaID: ordinal, ofPost: openID.span)
    }
  }

  private mutating func author(
    _ post: FlatPost, of posts: borrowing FlatPosts, _ naming: (any MediaNaming)?
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
    _ naming: (any MediaNaming)?
  ) {
    guard let text else { return }
    let url = posts.bytes.span.extracting(text.range)
    if let named = naming?.name(of: url, version: nil)?.url { return member(name, utf8: named) }
    key(name)
    string(utf8: url)
  }

  /// What the origin says beyond what is known, as it stands.
  private mutating func extra(_ json: FlatText?, of posts: borrowing FlatPosts) {
    guard let json else { return }
    key("extra")
    literal(posts.bytes.span.extracting(json.range))
  }

  private mutating func mediaMembers(
    of posts: borrowing FlatPosts, at index: Int, _ naming: (any MediaNaming)?, entirely: Bool
  ) {
    let file = posts.media[index]
    let load = posts.mediaLoads[index]
    member("kind", load.kind.rawValue)
    let url = posts.bytes.span.extracting(file.url.range)
    location(
      url, naming?.name(of: url, version: file.truth.flatMap { posts.truths[$0].version }))
    member("alt", file.alt, of: posts)
    picture("poster", file.poster, of: posts, naming)
    if let index = file.truth {
      itemMembers(of: posts.truths[index], naming, entirely: entirely)
    } else {
      member("mimeType", file.mimeType, of: posts)
      member("codec", file.codec, of: posts)
      member("width", file.width)
      member("height", file.height)
      member("durationMs", load.durationMilliseconds)
      member("bytes", load.bytes)
    }
    // What somebody has seen of the file goes before what its origin says.
    if let index = file.placeholder, file.truth.map({ posts.truths[$0].placeholder == nil }) ?? true
    {
      key("placeholder")
      placeholder(posts.placeholders[index])
    }
    extra(file.extra, of: posts)
  }
}

extension JSONWriter {
  /// The members that say where a file is.
  mutating func location(_ url: Span<UInt8>, _ name: MediaName?) {
    if let named = name?.url {
      member("url", utf8: named)
    } else {
      key("url")
      string(utf8: url)
    }
    if let immutableURL = name?.immutableURL { member("immutableUrl", utf8: immutableURL) }
    if let expiresAt = name?.expiresAt { member("expiresAt", utf8: expiresAt.rfc3339UTF8) }
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
