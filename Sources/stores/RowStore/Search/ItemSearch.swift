import Catalog
import Feed

/// Searches posts among candidates that an index of the database returns. In a search for texts, the
/// candidates are the posts with all words, and the posts' own texts decide: so phrases are found, and what
/// another program changed without updating the index is never shown wrongly.
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

  /// The number of candidates that may still be looked at.
  package var looksLeft: Int { looks - looked }

  /// Looks at a candidate. The numbers of candidates descend.
  ///
  /// - Parameter post: with the texts that have words; `nil` if the filter's other conditions do not hold.
  /// - Returns: whether to look at another candidate.
  package mutating func look(at number: Int64, _ post: Post?) -> Bool {
    looked += 1
    last = number
    if let post, query?.matches(post) ?? true { found.append(number) }
    return found.count <= limit && looksLeft > 0
  }

  /// The result of the search.
  package var numbers: PostNumbers {
    PostNumbers(
      found: found, limit: limit, lookEnd: found.count <= limit && looksLeft == 0 ? last : nil)
  }
}
