import CXXHash
import Feed
import HTTP
import Seeding

/// Which state an item is in: made of all that a record says of it, and so the same in every
/// representation, whatever the network or the coding.
struct ItemVersion {
  let text: String

  init(_ item: StoredItem) {
    let json = SeedRecord.post(item.post, placements: item.placements).json
    let hash = json.withUnsafeBytes { lookahead_xxh3_128($0.baseAddress, $0.count) }
    text = String(hash.high, radix: 36) + "-" + String(hash.low, radix: 36)
  }
}

/// The preconditions of a write (RFC 9110 section 13): a tag of any representation of the item as it is
/// counts.
struct ItemPreconditions: Sendable {
  private let method: Method
  private let fields: Fields

  init(_ request: Request) {
    method = request.method
    var fields = Fields()
    for name in ["If-Match", "If-None-Match"] {
      if let value = request.fields.combined(name) { fields.append(name, Self.versions(value)) }
    }
    self.fields = fields
  }

  /// What the store asks before it writes; `nil` where the request has no precondition.
  var condition: ItemWrite.Condition? { fields.isEmpty ? nil : check }

  /// - Throws: `Problem` 412 where they do not hold of the item as it is; `nil` where there is none.
  @Sendable private func check(_ item: StoredItem?) throws {
    let tag = item.map { EntityTag(ItemVersion($0).text) }
    guard Preconditions.evaluate(method, fields, current: tag) == .proceed else {
      throw Problem(
        .preconditionFailed, .preconditionFailed,
        item == nil
          ? "There is no such item."
          : "The item is not in the state that the request expects: read it again.")
    }
  }

  /// The list with each tag cut down to its version; what is malformed stays so.
  private static func versions(_ value: String) -> String {
    guard case .tags(let tags) = EntityTagCondition(parsing: value) else { return value }
    return tags.map { tag in
      let version = tag.opaque.prefix { String($0) != EntityTag.versionEnd }
      return EntityTag(String(version), isWeak: tag.isWeak).description
    }.joined(separator: ", ")
  }
}
