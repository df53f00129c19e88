/// The preconditions of a request against the current representation's validator
/// (RFC 9110 section 13).
public enum Preconditions {
  /// What they come to.
  public enum Outcome: Sendable, Hashable {
    /// Do what the method says.
    case proceed
    /// Answer 304.
    case notModified
    /// Answer 412.
    case failed
  }

  /// Evaluates `If-Match`, then `If-None-Match`, in the order of RFC 9110 section 13.2.2.
  ///
  /// `current` is the tag of the selected representation, nil if there is none. To be called only
  /// where the answer without preconditions would be 2xx (section 13.2.1). A malformed `If-Match`
  /// matches nothing and fails; a malformed `If-None-Match` matches nothing and is ignored: either
  /// way nothing is overwritten, or left out, by mistake.
  public static func evaluate(
    _ method: Method, _ fields: Fields, current: EntityTag?
  ) -> Outcome {
    if let value = fields.combined("If-Match") {
      let matches = EntityTagCondition(parsing: value)?.stronglyMatches(current) ?? false
      if !matches { return .failed }
    }
    if let value = fields.combined("If-None-Match"),
      let condition = EntityTagCondition(parsing: value), condition.weaklyMatches(current)
    {
      return method == .get || method == .head ? .notModified : .failed
    }
    return .proceed
  }
}
