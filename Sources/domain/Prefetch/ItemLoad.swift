import Feed

/// What an item has to load, on which hints and plans depend.
public struct ItemLoad: Hashable, Sendable {
  /// What it is.
  public var type: PostType
  /// It has a page of its own: of a web app or an ad without media, that is what is loaded.
  public var hasPage: Bool
  /// Its files, in the order in which they are shown. A slice: of a page's items each may borrow its
  /// part of the page's files. Whoever keeps an item for long keeps a copy of its part.
  public var media: ArraySlice<MediaLoad>

  /// An item with these files.
  public init(type: PostType, hasPage: Bool, media: ArraySlice<MediaLoad>) {
    self.type = type
    self.hasPage = hasPage
    self.media = media
  }

  /// Whether what it costs to start depends on the bandwidth: of what plays, how far its bytes play is known.
  public var dependsOnDownlink: Bool {
    anyFile { file in
      file.kind.plays && file.bytes != nil
        && file.withTiming { !$0.lead.isEmpty } == true
    }
  }

  /// Whether what it costs depends on how wide it is shown: there is more than one file to choose from.
  public var hasVariants: Bool { anyFile { $0.hasVariants } }

  /// Whether it is so of any file. It takes no reference to them: pages ask this of each item.
  @inline(__always)
  private func anyFile(_ isSo: (borrowing MediaLoad) -> Bool) -> Bool {
    let files = media.span
    for index in files.indices where isSo(files[index]) { return true }
    return false
  }

  /// What the post has to load.
  public init(_ post: Post) {
    self.init(type: post.type, hasPage: post.url != nil, media: post.media.map(MediaLoad.init)[...])
  }

  /// What the post at this index has to load; it borrows the posts' files.
  public init(_ posts: borrowing FlatPosts, at index: Int) {
    let post = posts.posts[index]
    self.init(type: post.type, hasPage: post.url != nil, media: posts.mediaLoads[post.media])
  }
}
