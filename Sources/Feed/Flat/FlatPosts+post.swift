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
    flat.title = add(text: post.title)
    flat.text = add(text: post.text)
    flat.language = add(text: post.language)
    flat.publishedAt = post.publishedAt
    flat.authorID = add(text: post.author?.id)
    flat.authorName = add(text: post.author?.name)
    flat.authorAvatar = add(text: post.author?.avatar)
    flat.authorExtra = add(text: post.author?.extra?.json)
    flat.url = add(text: post.url)
    flat.thumbnail = add(text: post.thumbnail)
    flat.extra = add(text: post.extra?.json)
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

  /// The post at this index, `0..<count`, with texts of its own, as its record has it: of posts that came
  /// without the truth about their files.
  public func post(at index: Int) -> Post {
    let flat = posts[index]
    var post = Post(id: string(flat.id), type: flat.type)
    post.title = flat.title.map(string)
    post.text = flat.text.map(string)
    post.language = flat.language.map(string)
    post.publishedAt = flat.publishedAt
    if flat.hasAuthor {
      post.author = Author(
        id: flat.authorID.map(string), name: flat.authorName.map(string),
        avatar: flat.authorAvatar.map(string), extra: flat.authorExtra.map(extra))
    }
    post.url = flat.url.map(string)
    post.thumbnail = flat.thumbnail.map(string)
    post.tags = tags[flat.tags].map(string)
    post.counters = counters[flat.counters].map { Counter(string($0.name), $0.value) }
    post.extra = flat.extra.map(extra)
    post.media = flat.media.map { index in
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

  /// The post at this index, with what is known of its files in place of what its record says of them.
  public func shownPost(at index: Int) -> Post {
    var post = post(at: index)
    for (place, file) in posts[index].media.enumerated() {
      if let truth = media[file].truth {
        post.media[place] = post.media[place].known(truths[truth])
      }
    }
    return post
  }

  private func extra(_ text: FlatText) -> Extra { Extra(checkedJSON: string(text)) }

  /// Every post, with texts of its own.
  public var allPosts: [Post] { posts.indices.map(post(at:)) }
}
