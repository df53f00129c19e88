extension FlatPosts {
  /// One post, flat.
  ///
  /// - Parameter truths: what is known of its files, in their order; or nothing.
  public init(_ post: Post, number: Int64 = 0, truths: [MediaTruth?] = []) {
    self.init()
    append(post, number: number, truths: truths)
  }

  /// Appends a post.
  ///
  /// - Parameter truths: what is known of its files, in their order; or nothing.
  public mutating func append(_ post: Post, number: Int64 = 0, truths: [MediaTruth?] = []) {
    var flat = FlatPost(number: number, type: post.type, id: add(text: post.id))
    flat.title = post.title.map { add(text: $0) }
    flat.text = post.text.map { add(text: $0) }
    flat.publishedAt = post.publishedAt
    flat.authorID = (post.author?.id).map { add(text: $0) }
    flat.authorName = (post.author?.name).map { add(text: $0) }
    flat.url = post.url.map { add(text: $0) }
    flat.thumbnail = post.thumbnail.map { add(text: $0) }
    append(flat)
    for tag in post.tags { add(tag: add(text: tag)) }
    for counter in post.counters {
      add(counter: FlatCounter(name: add(text: counter.name), value: counter.value))
    }
    for (index, file) in post.media.enumerated() {
      var flat = FlatMedia(url: add(text: file.url))
      flat.mimeType = file.mimeType.map { add(text: $0) }
      flat.codec = file.codec.map { add(text: $0) }
      flat.width = file.width
      flat.height = file.height
      add(media: flat, load: MediaLoad(file))
      if truths.indices.contains(index), let truth = truths[index] { add(truth: truth) }
    }
  }

  /// The post at this index, `0..<count`, with texts of its own, as its record has it: of posts that came
  /// without the truth about their files.
  public func post(at index: Int) -> Post {
    let flat = posts[index]
    var post = Post(id: string(flat.id), type: flat.type)
    post.title = flat.title.map(string)
    post.text = flat.text.map(string)
    post.publishedAt = flat.publishedAt
    post.author = flat.authorID.map { Author(id: string($0), name: flat.authorName.map(string)) }
    post.url = flat.url.map(string)
    post.thumbnail = flat.thumbnail.map(string)
    post.tags = tags[flat.tags].map(string)
    post.counters = counters[flat.counters].map { Counter(string($0.name), $0.value) }
    post.media = flat.media.map { index in
      let (file, load) = (media[index], mediaLoads[index])
      return Media(
        kind: load.kind, url: string(file.url), mimeType: file.mimeType.map(string),
        codec: file.codec.map(string), width: file.width, height: file.height,
        durationMilliseconds: load.durationMilliseconds, bytes: load.bytes)
    }
    return post
  }

  /// Every post, with texts of its own.
  public var allPosts: [Post] { posts.indices.map(post(at:)) }
}
