import Catalog
import Feed

extension ModelStore: MediaStore {
  package func media(at urls: [String]) throws -> [KnownMedia?] {
    urls.map { current.state.media[ByteText($0)] }
  }

  package func truth(ofContent sha256: [UInt8]) throws -> MediaTruth? {
    current.state.media.values.first { $0.truth.version == .content(sha256: sha256) }?
      .truth.alone
  }

  package func media(after url: String?, limit: Int) throws -> [KnownMedia] {
    let all = current.state.media.sorted { $0.key < $1.key }
    return all.filter { known in url.map { ByteText($0) < known.key } ?? true }
      .prefix(limit).map(\.value)
  }

  package func namedMedia(after url: String?, limit: Int) throws -> [String] {
    let all = Set(current.state.items.values.flatMap { $0.post.media.map { ByteText($0.url) } })
    return all.filter { named in
      named.text.utf8.first == UInt8(ascii: "/") && (url.map { ByteText($0) < named } ?? true)
    }
    .sorted().prefix(limit).map(\.text)
  }

  package func posts(naming urls: [String], limit: Int) throws -> [String] {
    let asked = Set(urls.map(ByteText.init))
    let posts = current.state.items.values.map(\.post).filter { post in
      post.media.contains { asked.contains(ByteText($0.url)) }
    }
    return posts.map { ByteText($0.id) }.sorted().prefix(limit).map(\.text)
  }

  package func keep(_ media: [KnownMedia]) throws {
    let keys = try media.map { try $0.versionKey() }
    change { state in
      for (key, media) in zip(keys, media) { state.keep(media, key) }
    }
  }

  package func forget(_ urls: [String]) throws {
    change { state in
      for url in urls where state.media.removeValue(forKey: ByteText(url)) != nil {
        state.tell([ByteText(url)])
      }
    }
  }
}

extension ModelState {
  /// What is known of a post's files.
  func truths(of post: Post) -> [MediaTruth?] {
    post.media.map { media[ByteText($0.url)]?.truth }
  }

  /// What is known of a version is known wherever that lies.
  fileprivate mutating func keep(_ known: KnownMedia, _ key: String) {
    var changed: Set<ByteText> = []
    for (url, other) in media where (try? other.versionKey()) == key {
      if other.truth.alone != known.truth.alone { changed.insert(url) }
      media[url]?.truth = known.truth.alone
      media[url]?.truth.variants = other.truth.variants
    }
    let url = ByteText(known.url)
    if media[url]?.truth != known.truth { changed.insert(url) }
    media[url] = known
    tell(changed)
  }

  fileprivate mutating func tell(_ urls: Set<ByteText>) {
    for item in items.values
    where item.post.media.contains(where: { urls.contains(ByteText($0.url)) }) {
      changed.posts.insert(item.number)
    }
  }
}
