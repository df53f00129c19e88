import Feed

/// The type and the files of an item, on which hints and plans depend.
public struct ItemLoad: Hashable, Sendable {
  /// The item's type.
  public var type: PostType
  /// Whether the item has a page of its own, which is what a web app or an ad without media loads.
  public var hasPage: Bool
  /// The item's files, in display order. A slice, so that each item of a page may borrow its part of the
  /// page's files. To keep an item for long, copy its part.
  public var media: ArraySlice<MediaLoad>

  /// Creates the load of an item with these files.
  public init(type: PostType, hasPage: Bool, media: ArraySlice<MediaLoad>) {
    self.type = type
    self.hasPage = hasPage
    self.media = media
  }

  /// Whether the cost of the item's start depends on the bandwidth: the timing of a playing file of known
  /// size has leads.
  public var dependsOnDownlink: Bool {
    anyFile { file in
      file.kind.plays && file.bytes != nil
        && file.withTiming { !$0.lead.isEmpty } == true
    }
  }

  /// Whether the item's cost depends on the width at which it is shown: a file has variants.
  public var hasVariants: Bool { anyFile { $0.hasVariants } }

  /// Whether the predicate holds for any file. Takes no reference to the files, since pages ask this of each
  /// item.
  @inline(__always)
  private func anyFile(_ isSo: (borrowing MediaLoad) -> Bool) -> Bool {
    let files = media.span
    for index in files.indices where isSo(files[index]) { return true }
    return false
  }

  /// Creates the load of the post.
  public init(_ post: Post) {
    self.init(type: post.type, hasPage: post.url != nil, media: post.media.map(MediaLoad.init)[...])
  }

  /// Creates the load of the post at this index, which borrows the posts' files.
  public init(_ posts: borrowing FlatPosts, at index: Int) {
    let post = posts.posts[index]
    self.init(
      type: post.type, hasPage: post.url != nil, media: posts.mediaLoads[posts.media(of: index)])
  }
}
