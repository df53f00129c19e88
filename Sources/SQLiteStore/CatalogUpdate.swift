import Feed

/// What a look at the file brought.
struct CatalogUpdate {
  /// The catalog as the file has it now.
  var catalog: Catalog
  /// What is different in it, and which posts changed; `nil` where the catalog was read anew, so that
  /// anything may be.
  var changes: Changes?

  /// What of the store changed.
  struct Changes {
    /// The feeds whose order, title, ranking or total did, those that are gone among them.
    var feeds: Set<ByteText> = []
    /// The posts whose content did, or that are gone.
    var posts: Set<Int64> = []
    /// The networks or policies did.
    var areSettings = false

    var isEmpty: Bool { feeds.isEmpty && posts.isEmpty && !areSettings }
  }
}
