import Feed
import TestSupport
import Testing

@testable import Catalog

/// The journal against a list of everything that ever happened.
struct ChangeJournalTests {
  private typealias Changes = CatalogUpdate.Changes

  @Test(arguments: [4, 7, 40], TestRandom.seeds)
  func `what it says is so, and what it no longer knows it takes for changed`(
    limit: Int, seed: UInt64
  ) throws {
    var random = TestRandom(seed)
    var journal = ChangeJournal(limit: limit)
    var history: [Changes] = []
    var known = 0
    for step in 1...600 {
      let changes = Changes(
        feeds: random.once(in: 5) ? [ByteText("f\(random.number(0...2))")] : [],
        posts: Set((0..<random.number(0...4)).map { _ in Int64(random.number(0...30)) }),
        areSettings: random.once(in: 60))
      let isAnew = random.once(in: 100)
      journal.note(isAnew ? nil : changes, at: StoreVersion(number: UInt64(step)))
      history.append(changes)
      if isAnew { known = step }

      let since = random.number(max(0, step - 30)...step)
      let later = history[since...]
      let version = StoreVersion(number: UInt64(since))
      let changed = later.reduce(into: Set<Int64>()) { $0.formUnion($1.posts) }
      if let told = journal.changedPosts(since: version) {
        try #require(since >= known, TestRandom.replay)
        try #require(Set(told) == changed && told.count == changed.count, TestRandom.replay)
        let (feed, posts) = ("f\(random.number(0...2))", [Int64(random.number(0...30))])
        let isSame = !later.contains {
          $0.areSettings || $0.feeds.contains(feed) || !$0.posts.isDisjoint(with: posts)
        }
        try #require(
          journal.isUnchanged(feed: feed, posts: posts, since: version) == isSame,
          TestRandom.replay)
        let all = try #require(journal.changes(since: version), TestRandom.replay)
        try #require(Set(all.posts) == changed, TestRandom.replay)
        let feeds = later.reduce(into: Set<ByteText>()) { $0.formUnion($1.feeds) }
        try #require(
          Set(all.feeds.map { ByteText($0) }) == feeds && all.feeds.count == feeds.count,
          TestRandom.replay)
        try #require(all.areSettings == later.contains(where: \.areSettings), TestRandom.replay)
      } else {
        // So much has happened since that there was no room for it, or all was read anew.
        let count = later.reduce(0) { $0 + $1.posts.count }
        try #require(since < known || count > limit, TestRandom.replay)
        try #require(
          !journal.isUnchanged(feed: "f0", posts: [], since: version), TestRandom.replay)
      }
    }
  }
}
