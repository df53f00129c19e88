import HTTP

/// What must hold of the fields that have a grammar of their own, whatever their value is.
enum FieldProperties {
  /// What does not hold, as a sentence.
  static func fault(in input: [UInt8]) -> String? {
    let value = String(decoding: input, as: UTF8.self)
    return tagsFault(value) ?? dateFault(value) ?? codingsFault(value) ?? bearerFault(value)
  }

  private static func tagsFault(_ value: String) -> String? {
    guard case .tags(let tags)? = EntityTagCondition(parsing: value) else { return nil }
    if tags.isEmpty { return "a condition has no tags" }
    let written = tags.map(\.description).joined(separator: ", ")
    guard case .tags(let read)? = EntityTagCondition(parsing: written),
      read.elementsEqual(tags, by: isSame)
    else { return "\(value), written as \(written), reads as something else" }
    for tag in tags {
      guard let alone = EntityTag(parsing: tag.description), isSame(alone, tag) else {
        return "\(tag) of \(value) is no tag on its own"
      }
    }
    return nil
  }

  private static func isSame(_ left: EntityTag, _ right: EntityTag) -> Bool {
    left.isWeak == right.isWeak && left.opaque.utf8.elementsEqual(right.opaque.utf8)
  }

  /// 2026, and a moment before a century ends.
  private static let moments = [1_780_000_000, 4_102_444_799]
  /// The last second that a year of four digits can name.
  private static let lastSecond = 253_402_300_799

  private static func dateFault(_ value: String) -> String? {
    for now in moments {
      guard let seconds = HTTPDate.parse(value, nowSecondsSince1970: now), seconds <= lastSecond
      else { continue }
      let written = HTTPDate.format(secondsSince1970: seconds)
      guard HTTPDate.parse(written, nowSecondsSince1970: now) == seconds else {
        return "\(value) is \(seconds), and not so written as \(written)"
      }
    }
    return nil
  }

  private static func codingsFault(_ value: String) -> String? {
    let accepted = AcceptEncoding(value)
    for coding in ContentCoding.allCases {
      guard let best = accepted.best(of: [coding]) else { continue }
      if best != coding { return "\(best) is not \(coding)" }
      // What is acceptable alone leaves something acceptable among all.
      guard let chosen = accepted.best(of: ContentCoding.allCases),
        accepted.best(of: [chosen]) == chosen
      else { return "\(value) takes \(coding), but nothing of all" }
      // Its place among others matters to none that is not equally good.
      guard accepted.best(of: [chosen, coding]) == chosen else {
        return "\(value) prefers \(chosen) among all, but not to \(coding)"
      }
    }
    return nil
  }

  private static func bearerFault(_ value: String) -> String? {
    guard let token = Bearer.credentials(["Authorization": value]) else { return nil }
    guard !token.isEmpty, value.hasSuffix(token), Bearer.matches(token, token) else {
      return "\(value) presents \(token)"
    }
    let isLoose =
      Bearer.matches(token + "=", token) || Bearer.matches(token, token + "=")
      || Bearer.matches(String(token.dropLast()), token) || Bearer.matches(token, "")
    if isLoose { return "\(token) matches another token" }
    return Bearer.credentials(["Authorization": "bEARER   " + token]) == token
      ? nil : "\(token) is not found in another way to write it"
  }
}
