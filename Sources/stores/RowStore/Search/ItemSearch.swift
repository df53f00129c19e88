import Catalog
import Feed

/// Looks for posts among candidates that an index of the database names. Where texts are looked for, these are the posts
/// with all words, and the posts' own texts decide: so phrases are found, and what another program changed beside the
/// index is never shown wrongly.
package struct ItemSearch {
  private let query: TextQuery?
  private let limit: Int
  private let looks: Int
  private var found: [Int64] = []
  private var looked = 0
  private var last: Int64?

  /// See `FeedStore.postNumbers`.
  package init(_ query: TextQuery?, limit: Int, looks: Int) {
    (self.query, self.limit, self.looks) = (query, limit, looks)
  }

  /// How many candidates may still be looked at.
  package var looksLeft: Int { looks - looked }

  /// Looks at a candidate; each has a number below those before.
  ///
  /// - Parameter post: with the texts that have words; `nil` if the filter's other conditions do not hold.
  /// - Returns: whether another candidate is to be looked at.
  package mutating func look(at number: Int64, _ post: Post?) -> Bool {
    looked += 1
    last = number
    if let post, query?.matches(post) ?? true { found.append(number) }
    return found.count <= limit && looksLeft > 0
  }

  /// What was found in the candidates.
  package var numbers: PostNumbers {
    PostNumbers(
      found: found, limit: limit, lookEnd: found.count <= limit && looksLeft == 0 ? last : nil)
  }
}
