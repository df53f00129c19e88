/// What a look at the settings before the start came to.
struct StartFinding: Equatable {
  enum Severity: String {
    /// The server does not start.
    case refusal
    /// It starts, and says this in its log.
    case warning
    /// It starts, and a default fits what was found.
    case note
  }

  /// Whether the server does not start.
  var isRefusal: Bool { severity == .refusal }

  let severity: Severity
  let text: String

  static func refusal(_ text: String) -> StartFinding {
    StartFinding(severity: .refusal, text: text)
  }

  static func note(_ text: String) -> StartFinding { StartFinding(severity: .note, text: text) }

  static func warning(_ text: String) -> StartFinding {
    StartFinding(severity: .warning, text: text)
  }
}
