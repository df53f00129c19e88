/// Posts in the form of a store's rows: all text in one buffer, without a `String` or an array for each.
///
/// A page reads about ten texts per post only to write them out again; this type holds them in between.
/// Posts are in the order in which they were appended, tags and media in the order of the post, counters in
/// the order of their names.
public struct FlatPosts: Sendable {
  /// The texts, UTF-8, concatenated.
  public private(set) var bytes: [UInt8] = []
  /// The posts, in order.
  public private(set) var posts: [FlatPost] = []
  /// The tags of all posts; `tags(of:)` is the range of each post.
  public private(set) var tags: [FlatText] = []
  /// The counters of all posts; `counters(of:)` is the range of each post.
  public private(set) var counters: [FlatCounter] = []
  /// The media files of all posts; `media(of:)` is the range of each post.
  public private(set) var media: [FlatMedia] = []
  /// The values that decide how much of each file of `media` a client loads ahead, at the same index.
  public private(set) var mediaLoads: [MediaLoad] = []
  /// The facts that probes found about files, if the store was asked for them: `FlatMedia.truth` is the
  /// index.
  public private(set) var truths: [MediaTruth] = []
  /// The placeholders of files from their origins: `FlatMedia.placeholder` is the index.
  public private(set) var placeholders: [MediaPlaceholder] = []

  /// Creates an empty list with reserved capacity for a number of posts and their bytes of text.
  public init(reservingPosts count: Int = 0, bytes byteCount: Int = 0) {
    guard count > 0 else { return }
    bytes.reserveCapacity(byteCount)
    posts.reserveCapacity(count)
    media.reserveCapacity(count)
    mediaLoads.reserveCapacity(count)
  }

  /// The number of posts.
  public var count: Int { posts.count }

  /// The range of the tags of the post at this index.
  public func tags(of index: Int) -> Range<Int> {
    posts[index].tagsStart..<(index + 1 < posts.count ? posts[index + 1].tagsStart : tags.count)
  }

  /// The range of the counters of the post at this index.
  public func counters(of index: Int) -> Range<Int> {
    let end = index + 1 < posts.count ? posts[index + 1].countersStart : counters.count
    return posts[index].countersStart..<end
  }

  /// The range of the files of the post at this index, in `media` and in `mediaLoads`.
  public func media(of index: Int) -> Range<Int> {
    posts[index].mediaStart..<(index + 1 < posts.count ? posts[index + 1].mediaStart : media.count)
  }

  /// Returns the text as a `String`.
  public func string(_ text: FlatText) -> String {
    String(decoding: bytes[text.range], as: UTF8.self)
  }
}

// MARK: Filling it

extension FlatPosts {
  /// Stores the text. All texts together have less than 4 GiB: a page of posts within `RecordLimits` has at
  /// most about 200 MB.
  public mutating func add(text: UnsafeBufferPointer<UInt8>) -> FlatText {
    let added = FlatText(start: UInt32(bytes.count), count: UInt32(text.count))
    // A quarter less work than `append(contentsOf:)`. The text fits: that much was added.
    bytes.append(addingCapacity: text.count) { output in
      output.withUnsafeMutableBufferPointer { buffer, count in
        guard let start = buffer.baseAddress, let source = text.baseAddress else { return }
        start.initialize(from: source, count: text.count)
        count = text.count
      }
    }
    return added
  }

  /// Stores the text.
  public mutating func add(text: String) -> FlatText {
    var text = text
    return text.withUTF8 { add(text: $0) }
  }

  /// Stores the text, if there is one.
  mutating func add(text: String?) -> FlatText? { text.map { add(text: $0) } }

  /// Appends the post; tags, counters and media that are added afterwards belong to it.
  public mutating func append(_ post: consuming FlatPost) {
    post.tagsStart = tags.count
    post.countersStart = counters.count
    post.mediaStart = media.count
    posts.append(post)
  }

  /// Adds a tag to the last post.
  public mutating func add(tag: FlatText) { tags.append(tag) }

  /// Adds a counter to the last post. The caller adds counters in the order of their names' bytes, each
  /// name once.
  public mutating func add(counter: FlatCounter) { counters.append(counter) }

  /// Stores the range of the JSON of the last post's tags, identical to the byte with the tags.
  public mutating func note(tagsJSON: FlatText) { posts[posts.count - 1].tagsJSON = tagsJSON }

  /// Stores the range of the JSON of the last post's counters, identical to the byte with the counters.
  public mutating func note(countersJSON: FlatText) {
    posts[posts.count - 1].countersJSON = countersJSON
  }

  /// Removes the last post's tags.
  public mutating func removeTags() {
    tags.removeLast(tags.count - posts[posts.count - 1].tagsStart)
  }

  /// Removes the last post's counters.
  public mutating func removeCounters() {
    counters.removeLast(counters.count - posts[posts.count - 1].countersStart)
  }

  /// Adds the facts about the last media file; they take precedence over the origin's fields.
  public mutating func add(truth: consuming MediaTruth) {
    // If one file has facts, most files have them.
    if truths.isEmpty { truths.reserveCapacity(media.capacity) }
    media[media.count - 1].truth = truths.count
    let last = mediaLoads.count - 1
    if truth.isUnavailable {
      mediaLoads[last] = .unavailable(mediaLoads[last].kind)
    } else {
      mediaLoads[last] = MediaLoad(truth)
    }
    truths.append(truth)
  }

  /// Adds the origin's placeholder of the last media file.
  public mutating func add(placeholder: MediaPlaceholder) {
    media[media.count - 1].placeholder = placeholders.count
    placeholders.append(placeholder)
  }

  /// Adds a media file to the last post.
  public mutating func add(media file: FlatMedia, load: consuming MediaLoad) {
    media.append(file)
    mediaLoads.append(load)
  }
}

extension FlatPosts {
  /// Creates a list of one post.
  ///
  /// - Parameters:
  ///   - truths: The facts about its files, in the order of the files; or empty.
  ///   - survival: The survival curve, JSON.
  public init(
    _ post: Post, number: Int64 = 0, truths: [MediaTruth?] = [], survival: String? = nil
  ) {
    self.init()
    append(post, number: number, truths: truths, survival: survival)
  }

  /// Appends a post.
  ///
  /// - Parameters:
  ///   - truths: The facts about its files, in the order of the files; or empty.
  ///   - survival: The survival curve, JSON.
  public mutating func append(
    _ post: Post, number: Int64 = 0, truths: [MediaTruth?] = [], survival: String? = nil
  ) {
    var flat = FlatPost(number: number, type: post.type, id: add(text: post.id))
    flat.title = add(text: post.title)
    flat.text = add(text: post.text)
    flat.language = add(text: post.language)
    flat.publishedAt = post.publishedAt
    (flat.visibleFrom, flat.visibleUntil) = (post.visibleFrom, post.visibleUntil)
    flat.authorID = add(text: post.author?.id)
    flat.authorName = add(text: post.author?.name)
    flat.authorAvatar = add(text: post.author?.avatar)
    flat.authorExtra = add(text: post.author?.extra?.json)
    flat.url = add(text: post.url)
    flat.thumbnail = add(text: post.thumbnail)
    flat.extra = add(text: post.extra?.json)
    flat.survival = add(text: survival)
    append(flat)
    for tag in post.tags { add(tag: add(text: tag)) }
    for counter in post.counters {
      add(counter: FlatCounter(name: add(text: counter.name), value: counter.value))
    }
    for (index, file) in post.media.enumerated() {
      var flat = FlatMedia(url: add(text: file.url))
      flat.alt = add(text: file.alt)
      flat.poster = add(text: file.poster)
      flat.mimeType = add(text: file.mimeType)
      flat.codec = add(text: file.codec)
      flat.width = file.width
      flat.height = file.height
      flat.extra = add(text: file.extra?.json)
      add(media: flat, load: MediaLoad(file))
      if let placeholder = file.placeholder { add(placeholder: placeholder) }
      if truths.indices.contains(index), let truth = truths[index] { add(truth: truth) }
    }
  }

  /// Returns the post at this index, `0..<count`, as its record has it, for posts that were read without
  /// facts about their files.
  public func post(at index: Int) -> Post {
    let flat = posts[index]
    var post = Post(id: string(flat.id), type: flat.type)
    post.title = flat.title.map(string)
    post.text = flat.text.map(string)
    post.language = flat.language.map(string)
    post.publishedAt = flat.publishedAt
    (post.visibleFrom, post.visibleUntil) = (flat.visibleFrom, flat.visibleUntil)
    if flat.hasAuthor {
      post.author = Author(
        id: flat.authorID.map(string), name: flat.authorName.map(string),
        avatar: flat.authorAvatar.map(string), extra: flat.authorExtra.map(extra))
    }
    post.url = flat.url.map(string)
    post.thumbnail = flat.thumbnail.map(string)
    post.tags = tags[tags(of: index)].map(string)
    post.counters = counters[counters(of: index)].map { Counter(string($0.name), $0.value) }
    post.extra = flat.extra.map(extra)
    post.media = media(of: index).map { index in
      let (file, load) = (media[index], mediaLoads[index])
      return Media(
        kind: load.kind, url: string(file.url), alt: file.alt.map(string),
        poster: file.poster.map(string), mimeType: file.mimeType.map(string),
        codec: file.codec.map(string), width: file.width, height: file.height,
        durationMilliseconds: load.durationMilliseconds, bytes: load.bytes,
        placeholder: file.placeholder.map { placeholders[$0] }, extra: file.extra.map(extra))
    }
    return post
  }

  /// Returns the post at this index, with the facts about its files in place of the record's fields.
  public func shownPost(at index: Int) -> Post {
    var post = post(at: index)
    for (place, file) in media(of: index).enumerated() {
      if let truth = media[file].truth {
        post.media[place] = post.media[place].known(truths[truth])
      }
    }
    return post
  }

  private func extra(_ text: FlatText) -> Extra { Extra(checkedJSON: string(text)) }

  /// All posts.
  public var allPosts: [Post] { posts.indices.map(post(at:)) }
}
