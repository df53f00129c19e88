import Feed

/// A page of a feed for feed readers: JSON Feed, RSS.
///
/// All its URLs are absolute http or https URLs, because a reader knows no base; others are left out.
package struct SyndicationPage: Sendable {
  /// The feed's title.
  package var title: String
  /// The URL of this server, with a slash at the end.
  package var home: String
  /// The URL of this document.
  package var url: String
  /// The URL of the next document; nil on the last page.
  package var next: String?
  /// The URL of the previous document; nil on the first page.
  package var previous: String?
  /// The URL of the feed's first document.
  package var first: String
  /// The items, in the feed's order.
  package var items: [SyndicationItem]

  /// Creates a page.
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

/// A post for feed readers.
package struct SyndicationItem: Sendable {
  /// The post, with absolute http and https URLs only.
  package let post: Post
  /// The URL for people: the post's own page, or else this server's description of the post.
  package let url: String

  /// Creates the item of a post. URLs that are not http or https are left out.
  ///
  /// - Parameters:
  ///   - home: the URL of this server, with a slash at the end; URLs that begin with a slash are relative to it.
  ///   - page: this server's URL of the post, for a post without a page of its own.
  ///   - naming: maps a URL in the post to the one that clients use.
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

  /// The picture that represents the post, if there is one.
  var picture: String? {
    post.thumbnail ?? post.media.lazy.compactMap { $0.kind == .image ? $0.url : $0.poster }.first
  }
}

extension Media {
  /// The value of `Content-Type`: the known type, or a guess by the ending of the URL, or
  /// else the kind with `/*`.
  var declaredType: String {
    mimeType ?? FileKind.mimeType(ofURL: url, kind: kind) ?? "\(kind.rawValue)/*"
  }
}

extension Author {
  /// The name to show.
  var shownName: String? { name ?? (id.flatMap { WebAddress.isOfWeb($0) ? nil : $0 }) }
  /// The author's page, if the id is a URL.
  var page: String? { id.flatMap { WebAddress.isOfWeb($0) ? $0 : nil } }
}
