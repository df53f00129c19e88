import Catalog
import Feed

/// Looks for posts by their texts: a database's index of words names candidates, and the posts' own texts decide, so
/// that phrases are found, and what another program changed beside the index is never shown wrongly.
package struct TextSearch {
  /// A post whose words are those that are looked for.
  package struct Candidate {
    package let number: Int64
    /// The filter's other conditions hold.
    package let isAdmitted: Bool

    package init(number: Int64, isAdmitted: Bool) {
      self.number = number
      self.isAdmitted = isAdmitted
    }
  }

  private let query: TextQuery
  private let limit: Int
  private let looks: Int

  /// How many candidates are read at a time.
  private static let portion = 128

  package init(_ query: TextQuery, limit: Int, looks: Int) {
    (self.query, self.limit, self.looks) = (query, limit, looks)
  }

  /// The posts below a number, the newest first; see `FeedStore.postNumbers`.
  ///
  /// - Parameters:
  ///   - candidates: those below a number, as many, in any order.
  ///   - posts: reads posts by their numbers.
  package func numbers(
    below number: Int64, candidates: (_ below: Int64, _ count: Int) throws -> [Candidate],
    posts: ([Int64]) throws -> FlatPosts
  ) throws -> PostNumbers {
    var (below, looked) = (number, 0)
    var found: [Int64] = []
    while true {
      let count = min(Self.portion, looks - looked)
      let part = try candidates(below, count).sorted { $0.number > $1.number }
      looked += part.count
      var rest = part.filter(\.isAdmitted).map(\.number)[...]
      while !rest.isEmpty {
        let some = Array(rest.prefix(limit + 1 - found.count))
        rest = rest.dropFirst(some.count)
        let flat = try posts(some)
        for index in flat.posts.indices where query.matches(flat.post(at: index)) {
          found.append(flat.posts[index].number)
        }
        if found.count > limit { return PostNumbers(found: found, limit: limit, lookEnd: nil) }
      }
      guard part.count == count, let last = part.last else {
        return PostNumbers(found: found, limit: limit, lookEnd: nil)
      }
      below = last.number
      if looked >= looks { return PostNumbers(found: found, limit: limit, lookEnd: below) }
    }
  }
}
