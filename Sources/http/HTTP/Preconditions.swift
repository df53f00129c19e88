/// Evaluates the preconditions of a request against the current representation's validator (RFC 9110 section
/// 13).
public enum Preconditions {
  /// The outcome of the preconditions.
  public enum Outcome: Sendable, Hashable {
    /// Do what the method says.
    case proceed
    /// Answer 304.
    case notModified
    /// Answer 412.
    case failed
  }

  /// Evaluates `If-Match` or else `If-Unmodified-Since`, then `If-None-Match` or else
  /// `If-Modified-Since`, in the order of RFC 9110 section 13.2.2.
  ///
  /// `current` is the tag of the selected representation, nil if there is none. Call this only if the answer
  /// without preconditions would be 2xx (section 13.2.1). A malformed `If-Match` matches nothing and fails; a
  /// malformed `If-None-Match` matches nothing and is ignored. Either way nothing is overwritten, or left
  /// out, by mistake.
  ///
  /// `lastModifiedSeconds` is the value of `Last-Modified` in seconds since 1970; if it is nil, both dates
  /// are ignored. So is a date that is invalid or repeated, and `If-Modified-Since` with a method other than
  /// GET and HEAD (sections 13.1.3 and 13.1.4). `nowSecondsSince1970` determines the century of a year with
  /// two digits.
  public static func evaluate(
    _ method: Method, _ fields: Fields, current: EntityTag?, lastModifiedSeconds: Int? = nil,
    nowSecondsSince1970: Int = 0
  ) -> Outcome {
    let isRead = method == .get || method == .head
    /// Whether the representation changed after the date in this field; nil if that is unknown.
    func isModified(since name: String) -> Bool? {
      guard let lastModifiedSeconds, let value = fields.combined(name),
        let date = HTTPDate.parse(value, nowSecondsSince1970: nowSecondsSince1970)
      else { return nil }
      return lastModifiedSeconds > date
    }

    if let value = fields.combined("If-Match") {
      let matches = EntityTagCondition(parsing: value)?.stronglyMatches(current) ?? false
      if !matches { return .failed }
    } else if isModified(since: "If-Unmodified-Since") == true {
      return .failed
    }
    if let value = fields.combined("If-None-Match") {
      let matches = EntityTagCondition(parsing: value)?.weaklyMatches(current) ?? false
      if matches { return isRead ? .notModified : .failed }
    } else if isRead, isModified(since: "If-Modified-Since") == false {
      return .notModified
    }
    return .proceed
  }

  /// Whether `If-Range` lets `Range` apply (RFC 9110 section 13.1.5); if not, `Range` is ignored. Without
  /// `If-Range` it applies.
  ///
  /// An entity tag is compared strongly. A date must equal that of `Last-Modified`, and that second must be
  /// over (`lastModifiedSeconds` before `nowSecondsSince1970`, both in seconds since 1970): a file may change
  /// again within the second in which it changed, so until then the date is a weak validator (section
  /// 8.8.2.2). For the same reason the caller should send `Last-Modified` only for a second that is over.
  /// With any other value, or more than one field, `Range` does not apply.
  public static func rangeApplies(
    _ fields: Fields, current: EntityTag?, lastModifiedSeconds: Int?, nowSecondsSince1970: Int
  ) -> Bool {
    let values = fields.values(of: "If-Range")
    guard let value = values.first else { return true }
    guard values.count == 1 else { return false }
    if let tag = EntityTag(parsing: value) { return current?.stronglyMatches(tag) ?? false }
    guard let lastModifiedSeconds, lastModifiedSeconds < nowSecondsSince1970 else { return false }
    return HTTPDate.parse(value, nowSecondsSince1970: nowSecondsSince1970) == lastModifiedSeconds
  }
}
