import Feed
import Postgres
import RowStore

extension PostgresRows {
  func post(withID id: String) throws -> StoredPost? {
    if pending.posts[ByteText(id)] == nil { try read(post: id) }
    let row = pending.posts[ByteText(id)] ?? nil
    return row.map { StoredPost(number: $0.number, post: $0.post) }
  }

  func placements(of post: StoredPost) throws -> [Placement] {
    try (pending.entries[post.number] ?? []).filter { $0.until == nil }.map { entry in
      guard let feed = try feed(entry.feedID) else {
        throw RowError("entry \(entry.id) is in no feed")
      }
      return Placement(feed: feed.name, rank: entry.rank)
    }
    .sorted { $0.feed.utf8.lexicographicallyPrecedes($1.feed.utf8) }
  }

  func insert(_ post: Post) throws -> Int64 {
    if pending.postNumbers.isEmpty { try takeNumbers(posts: 1, authors: []) }
    let number = pending.postNumbers.removeLast()
    let author = try post.author.map(authorNumber)
    pending.newPosts[number] = (post, author)
    pending.posts[ByteText(post.id)] = PendingRows.StoredRow(
      number: number, post: post, author: author)
    (pending.entries[number], pending.places[number]) = ([], [])
    return number
  }

  func update(_ stored: StoredPost, to post: Post, isRun: Bool) throws {
    let number = stored.number
    let author = try post.author.map(authorNumber)
    let old = (pending.posts[ByteText(post.id)] ?? nil)?.author
    pending.posts[ByteText(post.id)] = PendingRows.StoredRow(
      number: number, post: post, author: author)
    if let old, old != author { pending.leftAuthors.insert(old) }
    guard pending.newPosts[number] == nil else {
      pending.newPosts[number] = (post, author)
      return
    }
    pending.changedPosts[number] = (post, author)
    pending.changedCounters[number] = nil
    if stored.post.media != post.media { pending.changedMedia[number] = post.media }
  }

  func set(_ counters: [Counter], of stored: StoredPost) {
    var post = stored.post
    post.counters = counters
    let author = (pending.posts[ByteText(post.id)] ?? nil)?.author
    pending.posts[ByteText(post.id)] = PendingRows.StoredRow(
      number: stored.number, post: post, author: author)
    if pending.newPosts[stored.number] != nil {
      pending.newPosts[stored.number] = (post, author)
    } else if pending.changedPosts[stored.number] != nil {
      pending.changedPosts[stored.number] = (post, author)
    } else {
      pending.changedCounters[stored.number] = counters
    }
  }

  func delete(_ stored: StoredPost) throws {
    try change("DELETE FROM post WHERE post_id = $1::int8", [.integer(stored.number)])
    pending.posts[ByteText(stored.post.id)] = .some(nil)
    (pending.entries[stored.number], pending.places[stored.number]) = (nil, nil)
    // The last post of an author takes him along.
    if let author = stored.post.author { pending.authors[author] = nil }
  }

  /// The number of an author; one that is not there yet is made with the next flush.
  private func authorNumber(_ author: Author) throws -> Int64 {
    if pending.authors[author] == nil {
      let rows = try connection.run(
        Self.authorsByKey,
        [
          .texts([author.id ?? ""]), .texts([author.name ?? ""]), .texts([author.avatar ?? ""]),
          .texts([author.extra?.json ?? ""]),
        ])
      if rows.count > 0 {
        pending.authors[author] = rows.integer(0, 1)
      } else {
        try takeNumbers(posts: 0, authors: [author])
      }
    }
    let number = pending.authors[author]!
    guard number < 0 else { return number }
    pending.newAuthors.append((-number, author))
    pending.authors[author] = -number
    return -number
  }
}
