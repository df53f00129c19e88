/// The value of `If-Match` or `If-None-Match` (RFC 9110 sections 13.1.1 and 13.1.2).
public enum EntityTagCondition: Sendable, Hashable {
  /// `*`: any current representation.
  case any
  /// One of these tags.
  case tags([EntityTag])

  /// Parses a condition; nil if it is malformed or empty.
  public init?(parsing value: some StringProtocol) {
    var rest = Substring(value)
    rest.skipListSeparators()
    if rest == "*" {
      self = .any
      return
    }
    var tags: [EntityTag] = []
    while !rest.isEmpty {
      guard let tag = EntityTag(consuming: &rest) else { return nil }
      tags.append(tag)
      let before = rest.utf8.count
      let sawComma = rest.skipListSeparators()
      if !rest.isEmpty, !sawComma || before == rest.utf8.count { return nil }
    }
    if tags.isEmpty { return nil }
    self = .tags(tags)
  }

  /// Whether the current representation's tag (nil if there is none) is among the tags, by strong comparison.
  public func stronglyMatches(_ current: EntityTag?) -> Bool {
    matches(current) { $0.stronglyMatches($1) }
  }

  /// Whether the current representation's tag (nil if there is none) is among the tags, by weak comparison.
  public func weaklyMatches(_ current: EntityTag?) -> Bool {
    matches(current) { $0.weaklyMatches($1) }
  }

  private func matches(
    _ current: EntityTag?, _ compare: (EntityTag, EntityTag) -> Bool
  ) -> Bool {
    guard let current else { return false }
    switch self {
    case .any: return true
    case .tags(let tags): return tags.contains { compare($0, current) }
    }
  }
}

extension Substring {
  /// Skips white space and commas; returns whether there was a comma.
  @discardableResult
  fileprivate mutating func skipListSeparators() -> Bool {
    var sawComma = false
    while let first, first == "," || first == " " || first == "\t" {
      if first == "," { sawComma = true }
      removeFirst()
    }
    return sawComma
  }
}
