/// What a check of the database found.
public struct CheckFinding: Hashable, Sendable {
  /// Whether something is wrong, or merely unfinished.
  public enum Severity: String, Sendable {
    case error, note
  }

  /// How bad it is.
  public let severity: Severity
  /// The rule that is broken, and by what: a line for a person.
  public let text: String

  package init(severity: Severity, text: String) {
    self.severity = severity
    self.text = text
  }
}
