import Feed

/// A page of a feed for programs that read feeds of any server: JSON Feed, RSS.
///
/// All its URLs are absolute and of the web, or there are none: whoever reads it knows no other place.
package struct SyndicationPage: Sendable {
  /// What people call the feed.
  package var title: String
  /// Where this server is, with a slash at the end.
  package var home: String
  /// Where this very document is.
  package var url: String
  /// The document that goes on below; nil on the last one.
  package var next: String?
  /// The one above; nil on the first one.
  package var previous: String?
  /// The feed's first document.
  package var first: String
  /// The items, in the feed's order.
  package var items: [SyndicationItem]

  /// A page of these items.
  package init(
    title: String, home: String, url: String, next: String? = nil, previous: String? = nil,
    first: String, items: [SyndicationItem]
  ) {
    self.title = title
    self.home = home
    self.url = url
    self.next = next
    self.previous = previous
    self.first = first
    self.items = items
  }
}

/// A post as such programs read it.
package struct SyndicationItem: Sendable {
  /// The post, with absolute URLs of the web alone.
  package let post: Post
  /// Where people read it: its own page, or else what this server says of it.
  package let url: String

  /// The item of a post. What it names that is nothing of the web is left out.
  ///
  /// - Parameters:
  ///   - home: where this server is, with a slash at the end: what begins with a slash is there.
  ///   - page: what this server says of the post, where that has no page of its own.
  ///   - naming: by which URL clients get what the post names by such a one.
  package init(_ post: Post, home: String, page: String, naming: (String) -> String = { $0 }) {
    func address(_ url: String) -> String? { WebAddress.absolute(naming(url), home: home) }
    var post = post
    post.url = post.url.flatMap(address)
    post.thumbnail = post.thumbnail.flatMap(address)
    if let avatar = post.author?.avatar { post.author?.avatar = address(avatar) }
    post.media = post.media.compactMap { file in
      var file = file
      guard let url = address(file.url) else { return nil }
      file.url = url
      file.poster = file.poster.flatMap(address)
      return file
    }
    self.post = post
    url = post.url ?? page
  }

  /// A picture that stands for it, where there is one.
  var picture: String? {
    post.thumbnail ?? post.media.lazy.compactMap { $0.kind == .image ? $0.url : $0.poster }.first
  }
}

extension Media {
  /// The value of its `Content-Type`: as known, or by the end of its URL, or at least what kind it is.
  var declaredType: String {
    mimeType ?? FileKind.mimeType(ofURL: url, kind: kind) ?? "\(kind.rawValue)/*"
  }
}

extension Author {
  /// What to call them.
  var shownName: String? { name ?? (id.flatMap { WebAddress.isOfWeb($0) ? nil : $0 }) }
  /// Their page, where their id is one.
  var page: String? { id.flatMap { WebAddress.isOfWeb($0) ? $0 : nil } }
}
